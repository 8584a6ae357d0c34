//===- kernels.h - The operators, and models of them -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   #include "nereid/kernels.h"
//
//   using namespace nereid;
//   using namespace nereid::kernels;
//
// All that a model is written with: tensors, variables, operators, modules,
// optimisers, files. docs/guide/FromPyTorch.md sets PyTorch's names beside
// these. Link Nereid::Kernels, or Nereid::KernelsAheadOfTime for a program
// without a compiler.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_H
#define NEREID_KERNELS_H

#include "kernels/adamw/AdamW.h"
#include "kernels/add_norm/AddNorm.h"
#include "kernels/attention/Attention.h"
#include "kernels/cross_entropy/CrossEntropy.h"
#include "kernels/decoding/Decoding.h"
#include "kernels/embedding/Embedding.h"
#include "kernels/expression/Expression.h"
#include "kernels/grad_scaler/GradScaler.h"
#include "kernels/gradients/Gradients.h"
#include "kernels/gradients/Outliers.h"
#include "kernels/group_norm/GroupNorm.h"
#include "kernels/indexing/Indexing.h"
#include "kernels/join/Join.h"
#include "kernels/layer_norm/LayerNorm.h"
#include "kernels/learning_rate/LearningRate.h"
#include "kernels/linear/Linear.h"
#include "kernels/linear_cross_entropy/LinearCrossEntropy.h"
#include "kernels/losses/Losses.h"
#include "kernels/module/Generator.h"
#include "kernels/module/Initialise.h"
#include "kernels/module/Layers.h"
#include "kernels/module/Module.h"
#include "kernels/reduce/Reductions.h"
#include "kernels/rms_norm/RmsNorm.h"
#include "kernels/rotary/Rotary.h"
#include "kernels/sampling/Sampling.h"
#include "kernels/scan/Scan.h"
#include "kernels/sgd/Sgd.h"
#include "kernels/softmax/Softmax.h"
#include "kernels/sort/Sort.h"
#include "nereid/Autograd/Recompute.h"
#include "nereid/Autograd/Views.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Npy.h"
#include "nereid/Runtime/Print.h"
#include "nereid/Weights/Safetensors.h"

namespace nereid {
using std::nullopt; ///< an argument that is absent
} // namespace nereid

#endif // NEREID_KERNELS_H
