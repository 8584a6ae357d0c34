"""Records launches of Triton kernels under upstream Triton. See README.md in the folder above."""
