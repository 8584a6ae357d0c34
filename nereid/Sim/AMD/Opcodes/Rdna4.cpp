//===- Rdna4.cpp - The numbers of RDNA 4 --------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Opcodes.h"

namespace nereid::sim::amd {

static constexpr EncodingText texts[] = {
    {Encoding::SOP1, R"(
0 s_mov_b32 s_mov_b64 s_cmov_b32 s_cmov_b64 s_brev_b32 s_brev_b64 8
s_ctz_i32_b32 s_ctz_i32_b64 s_clz_i32_u32 s_clz_i32_u64 s_cls_i32
s_cls_i32_i64 s_sext_i32_i8 s_sext_i32_i16 s_bitset0_b32 s_bitset0_b64
s_bitset1_b32 s_bitset1_b64 21 s_abs_i32 s_bcnt0_i32_b32 s_bcnt0_i32_b64
s_bcnt1_i32_b32 s_bcnt1_i32_b64 28 s_wqm_b32 s_wqm_b64 s_not_b32 s_not_b64
s_and_saveexec_b32 s_and_saveexec_b64 s_or_saveexec_b32 s_or_saveexec_b64
s_xor_saveexec_b32 s_xor_saveexec_b64 s_nand_saveexec_b32
s_nand_saveexec_b64 s_nor_saveexec_b32 s_nor_saveexec_b64
s_xnor_saveexec_b32 s_xnor_saveexec_b64 s_and_not0_saveexec_b32
s_and_not0_saveexec_b64 s_or_not0_saveexec_b32 s_or_not0_saveexec_b64
s_and_not1_saveexec_b32 s_and_not1_saveexec_b64 s_or_not1_saveexec_b32
s_or_not1_saveexec_b64 s_and_not0_wrexec_b32 s_and_not0_wrexec_b64
s_and_not1_wrexec_b32 s_and_not1_wrexec_b64 71 s_getpc_b64 s_setpc_b64
s_swappc_b64 78 s_barrier_signal 96 s_ceil_f32 s_floor_f32 s_trunc_f32
s_rndne_f32 s_cvt_f32_i32 s_cvt_f32_u32 s_cvt_i32_f32 s_cvt_u32_f32
s_cvt_f16_f32 s_cvt_f32_f16 107 s_ceil_f16 s_floor_f16 s_trunc_f16
s_rndne_f16
)"},
    {Encoding::SOP2, R"(
0 s_add_co_u32 s_sub_co_u32 s_add_co_i32 s_sub_co_i32 s_add_co_ci_u32
s_sub_co_ci_u32 s_absdiff_i32 8 s_lshl_b32 s_lshl_b64 s_lshr_b32 s_lshr_b64
s_ashr_i32 s_ashr_i64 s_lshl1_add_u32 s_lshl2_add_u32 s_lshl3_add_u32
s_lshl4_add_u32 s_min_i32 s_min_u32 s_max_i32 s_max_u32 s_and_b32 s_and_b64
s_or_b32 s_or_b64 s_xor_b32 s_xor_b64 s_nand_b32 s_nand_b64 s_nor_b32
s_nor_b64 s_xnor_b32 s_xnor_b64 s_and_not1_b32 s_and_not1_b64 s_or_not1_b32
s_or_not1_b64 s_bfe_u32 s_bfe_i32 s_bfe_u64 s_bfe_i64 s_bfm_b32 s_bfm_b64
s_mul_i32 s_mul_hi_u32 s_mul_hi_i32 48 s_cselect_b32 s_cselect_b64
s_pack_ll_b32_b16 s_pack_lh_b32_b16 s_pack_hh_b32_b16 s_pack_hl_b32_b16 64
s_add_f32 s_sub_f32 s_min_num_f32 s_max_num_f32 s_mul_f32 s_fmaak_f32
s_fmamk_f32 s_fmac_f32 73 s_add_f16 s_sub_f16 s_min_num_f16 s_max_num_f16
s_mul_f16 s_fmac_f16 s_minimum_f32 s_maximum_f32 83 s_add_nc_u64 s_sub_nc_u64 s_mul_u64
)"},
    {Encoding::SOPK, R"(
0 s_movk_i32 2 s_cmovk_i32 15 s_addk_co_i32 s_mulk_i32 s_getreg_b32
s_setreg_b32 s_setreg_imm32_b32
)"},
    {Encoding::SOPC, R"(
0 s_cmp_eq_i32 s_cmp_lg_i32 s_cmp_gt_i32 s_cmp_ge_i32 s_cmp_lt_i32
s_cmp_le_i32 s_cmp_eq_u32 s_cmp_lg_u32 s_cmp_gt_u32 s_cmp_ge_u32
s_cmp_lt_u32 s_cmp_le_u32 s_bitcmp0_b32 s_bitcmp1_b32 s_bitcmp0_b64
s_bitcmp1_b64 s_cmp_eq_u64 s_cmp_lg_u64 65 s_cmp_lt_f32 s_cmp_eq_f32
s_cmp_le_f32 s_cmp_gt_f32 s_cmp_lg_f32 s_cmp_ge_f32 s_cmp_o_f32 s_cmp_u_f32
s_cmp_nge_f32 s_cmp_nlg_f32 s_cmp_ngt_f32 s_cmp_nle_f32 s_cmp_neq_f32
s_cmp_nlt_f32 81 s_cmp_lt_f16 s_cmp_eq_f16 s_cmp_le_f16 s_cmp_gt_f16
s_cmp_lg_f16 s_cmp_ge_f16 s_cmp_o_f16 s_cmp_u_f16 s_cmp_nge_f16 s_cmp_nlg_f16
s_cmp_ngt_f16 s_cmp_nle_f16 s_cmp_neq_f16 s_cmp_nlt_f16
)"},
    {Encoding::SOPP, R"(
0 s_nop 2 s_sethalt s_sleep 5 s_clause 7 s_delay_alu s_wait_alu s_waitcnt
s_wait_idle 16 s_trap 20 s_barrier_wait 31 s_code_end s_branch
s_cbranch_scc0 s_cbranch_scc1 s_cbranch_vccz s_cbranch_vccnz s_cbranch_execz
s_cbranch_execnz 48 s_endpgm 53 s_setprio s_sendmsg 56 s_incperflevel
s_decperflevel s_ttracedata s_ttracedata_imm s_icache_inv 64 s_wait_loadcnt
s_wait_storecnt s_wait_samplecnt s_wait_bvhcnt s_wait_expcnt 70 s_wait_dscnt
s_wait_kmcnt s_wait_loadcnt_dscnt s_wait_storecnt_dscnt
)"},
    {Encoding::SMEM, R"(
0 s_load_b32 s_load_b64 s_load_b128 s_load_b256 s_load_b512 s_load_b96 8
s_load_i8 s_load_u8 s_load_i16 s_load_u16 33 s_dcache_inv
)"},
    {Encoding::VOP1, R"(
0 v_nop v_mov_b32 v_readfirstlane_b32 v_cvt_i32_f64 v_cvt_f64_i32
v_cvt_f32_i32 v_cvt_f32_u32 v_cvt_u32_f32 v_cvt_i32_f32 10 v_cvt_f16_f32
v_cvt_f32_f16 v_cvt_nearest_i32_f32 v_cvt_floor_i32_f32 15 v_cvt_f32_f64
v_cvt_f64_f32 v_cvt_f32_ubyte0 v_cvt_f32_ubyte1 v_cvt_f32_ubyte2
v_cvt_f32_ubyte3 v_cvt_u32_f64 v_cvt_f64_u32 v_trunc_f64 v_ceil_f64
v_rndne_f64 v_floor_f64 28 v_mov_b16 32 v_fract_f32 v_trunc_f32 v_ceil_f32
v_rndne_f32 v_floor_f32 v_exp_f32 39 v_log_f32 42 v_rcp_f32 v_rcp_iflag_f32
46 v_rsq_f32 v_rcp_f64 49 v_rsq_f64 51 v_sqrt_f32 v_sqrt_f64 v_sin_f32
v_cos_f32 v_not_b32 v_bfrev_b32 v_clz_i32_u32 v_ctz_i32_b32 v_cls_i32
v_frexp_exp_i32_f64 v_frexp_mant_f64 v_fract_f64 v_frexp_exp_i32_f32
v_frexp_mant_f32 80 v_cvt_f16_u16 v_cvt_f16_i16 v_cvt_u16_f16 v_cvt_i16_f16
v_rcp_f16 v_sqrt_f16 v_rsq_f16 v_log_f16 v_exp_f16 91 v_floor_f16 v_ceil_f16
v_trunc_f16 v_rndne_f16 v_fract_f16 101 v_swap_b32 105 v_not_b16 108
v_cvt_f32_fp8 v_cvt_f32_bf8 v_cvt_pk_f32_fp8 v_cvt_pk_f32_bf8
)"},
    {Encoding::VOP2, R"(
1 v_cndmask_b32 v_add_f64 v_add_f32 v_sub_f32 v_subrev_f32 v_mul_f64
v_mul_dx9_zero_f32 v_mul_f32 v_mul_i32_i24 v_mul_hi_i32_i24 v_mul_u32_u24
v_mul_hi_u32_u24 v_min_num_f64 v_max_num_f64 17 v_min_i32 v_max_i32
v_min_u32 v_max_u32 v_min_num_f32 v_max_num_f32 24 v_lshlrev_b32
v_lshrrev_b32 v_ashrrev_i32 v_and_b32 v_or_b32 v_xor_b32 v_xnor_b32
v_lshlrev_b64 v_add_co_ci_u32 v_sub_co_ci_u32 v_subrev_co_ci_u32 37
v_add_nc_u32 v_sub_nc_u32 v_subrev_nc_u32 43 v_fmac_f32 v_fmamk_f32
v_fmaak_f32 47 v_cvt_pk_rtz_f16_f32 v_min_num_f16 v_max_num_f16 v_add_f16
v_sub_f16 v_subrev_f16 v_mul_f16 v_fmac_f16 v_fmamk_f16 v_fmaak_f16 59
v_ldexp_f16
)"},
    {Encoding::VOPC, R"(
1 v_cmp_lt_f16 v_cmp_eq_f16 v_cmp_le_f16 v_cmp_gt_f16 v_cmp_lg_f16
v_cmp_ge_f16 v_cmp_o_f16 v_cmp_u_f16 v_cmp_nge_f16 v_cmp_nlg_f16
v_cmp_ngt_f16 v_cmp_nle_f16 v_cmp_neq_f16 v_cmp_nlt_f16 17 v_cmp_lt_f32
v_cmp_eq_f32 v_cmp_le_f32 v_cmp_gt_f32 v_cmp_lg_f32 v_cmp_ge_f32 v_cmp_o_f32
v_cmp_u_f32 v_cmp_nge_f32 v_cmp_nlg_f32 v_cmp_ngt_f32 v_cmp_nle_f32
v_cmp_neq_f32 v_cmp_nlt_f32 33 v_cmp_lt_f64 v_cmp_eq_f64 v_cmp_le_f64
v_cmp_gt_f64 v_cmp_lg_f64 v_cmp_ge_f64 v_cmp_o_f64 v_cmp_u_f64 v_cmp_nge_f64
v_cmp_nlg_f64 v_cmp_ngt_f64 v_cmp_nle_f64 v_cmp_neq_f64 v_cmp_nlt_f64 49
v_cmp_lt_i16 v_cmp_eq_i16 v_cmp_le_i16 v_cmp_gt_i16 v_cmp_ne_i16
v_cmp_ge_i16 57 v_cmp_lt_u16 v_cmp_eq_u16 v_cmp_le_u16 v_cmp_gt_u16
v_cmp_ne_u16 v_cmp_ge_u16 65 v_cmp_lt_i32 v_cmp_eq_i32 v_cmp_le_i32
v_cmp_gt_i32 v_cmp_ne_i32 v_cmp_ge_i32 73 v_cmp_lt_u32 v_cmp_eq_u32
v_cmp_le_u32 v_cmp_gt_u32 v_cmp_ne_u32 v_cmp_ge_u32 81 v_cmp_lt_i64
v_cmp_eq_i64 v_cmp_le_i64 v_cmp_gt_i64 v_cmp_ne_i64 v_cmp_ge_i64 89
v_cmp_lt_u64 v_cmp_eq_u64 v_cmp_le_u64 v_cmp_gt_u64 v_cmp_ne_u64
v_cmp_ge_u64 126 v_cmp_class_f32 v_cmp_class_f64 129 v_cmpx_lt_f16
v_cmpx_eq_f16 v_cmpx_le_f16 v_cmpx_gt_f16 v_cmpx_lg_f16 v_cmpx_ge_f16
v_cmpx_o_f16 v_cmpx_u_f16 v_cmpx_nge_f16 v_cmpx_nlg_f16 v_cmpx_ngt_f16
v_cmpx_nle_f16 v_cmpx_neq_f16 v_cmpx_nlt_f16 145 v_cmpx_lt_f32 v_cmpx_eq_f32
v_cmpx_le_f32 v_cmpx_gt_f32 v_cmpx_lg_f32 v_cmpx_ge_f32 v_cmpx_o_f32
v_cmpx_u_f32 v_cmpx_nge_f32 v_cmpx_nlg_f32 v_cmpx_ngt_f32 v_cmpx_nle_f32
v_cmpx_neq_f32 v_cmpx_nlt_f32 161 v_cmpx_lt_f64 v_cmpx_eq_f64 v_cmpx_le_f64
v_cmpx_gt_f64 v_cmpx_lg_f64 v_cmpx_ge_f64 v_cmpx_o_f64 v_cmpx_u_f64
v_cmpx_nge_f64 v_cmpx_nlg_f64 v_cmpx_ngt_f64 v_cmpx_nle_f64 v_cmpx_neq_f64
v_cmpx_nlt_f64 177 v_cmpx_lt_i16 v_cmpx_eq_i16 v_cmpx_le_i16 v_cmpx_gt_i16
v_cmpx_ne_i16 v_cmpx_ge_i16 185 v_cmpx_lt_u16 v_cmpx_eq_u16 v_cmpx_le_u16
v_cmpx_gt_u16 v_cmpx_ne_u16 v_cmpx_ge_u16 193 v_cmpx_lt_i32 v_cmpx_eq_i32
v_cmpx_le_i32 v_cmpx_gt_i32 v_cmpx_ne_i32 v_cmpx_ge_i32 201 v_cmpx_lt_u32
v_cmpx_eq_u32 v_cmpx_le_u32 v_cmpx_gt_u32 v_cmpx_ne_u32 v_cmpx_ge_u32 209
v_cmpx_lt_i64 v_cmpx_eq_i64 v_cmpx_le_i64 v_cmpx_gt_i64 v_cmpx_ne_i64
v_cmpx_ge_i64 217 v_cmpx_lt_u64 v_cmpx_eq_u64 v_cmpx_le_u64 v_cmpx_gt_u64
v_cmpx_ne_u64 v_cmpx_ge_u64 254 v_cmpx_class_f32 v_cmpx_class_f64
)"},
    {Encoding::VOP3, R"(
577 v_mad_u16 586 v_min3_i16 v_min3_u16 589 v_max3_i16 v_max3_u16 592
v_med3_i16 v_med3_u16 595 v_mad_i16 610 v_maxmin_u32 v_minmax_u32
v_maxmin_i32 v_minmax_i32
522 v_mad_i32_i24 v_mad_u32_u24 528 v_bfe_u32 v_bfe_i32 v_bfi_b32 v_fma_f32
v_fma_f64 534 v_alignbit_b32 v_alignbyte_b32 538 v_min3_i32 v_min3_u32 541
v_max3_i32 v_max3_u32 544 v_med3_i32 v_med3_u32 551 v_div_fixup_f32
v_div_fixup_f64 v_min3_num_f32 v_max3_num_f32 v_min3_num_f16 v_max3_num_f16
557 v_minimum3_f32 v_maximum3_f32 v_minimum3_f16 v_maximum3_f16
561 v_med3_num_f32 v_med3_num_f16 567 v_div_fmas_f32 v_div_fmas_f64 576
v_xor3_b32 580 v_perm_b32 v_xad_u32 v_lshl_add_u32 v_add_lshl_u32 v_fma_f16
596 v_div_fixup_f16 v_add3_u32 v_lshl_or_b32 v_and_or_b32 v_or3_b32 603
v_permlane16_b32 v_permlanex16_b32 v_cndmask_b16 616 v_minmax_num_f32
v_maxmin_num_f32 620 v_minimummaximum_f32 v_maximumminimum_f32
v_minimummaximum_f16 v_maximumminimum_f16 640 v_s_exp_f32 642 v_s_log_f32 644 v_s_rcp_f32 646
v_s_rsq_f32 648 v_s_sqrt_f32 764 v_div_scale_f32 v_div_scale_f64
v_mad_co_u64_u32 v_mad_co_i64_i32 v_add_co_u32 v_sub_co_u32 v_subrev_co_u32
v_add_nc_u16 v_sub_nc_u16 v_mul_lo_u16 777 v_max_u16 v_max_i16 v_min_u16
v_min_i16 v_add_nc_i16 v_sub_nc_i16 v_permlane16_var_b32
v_permlanex16_var_b32 v_pack_b32_f16 796 v_ldexp_f32 v_bfm_b32
v_bcnt_u32_b32 v_mbcnt_lo_u32_b32 v_mbcnt_hi_u32_b32 805 v_sub_nc_i32
v_add_nc_i32 811 v_ldexp_f64 v_mul_lo_u32 v_mul_hi_u32 v_mul_hi_i32 824
v_lshlrev_b16 v_lshrrev_b16 v_ashrrev_i16 829 v_lshrrev_b64 v_ashrrev_i64
833 v_minimum_f64 v_maximum_f64
864 v_readlane_b32 v_writelane_b32 v_and_b16 v_or_b16 v_xor_b16 869
v_minimum_f32 v_maximum_f32 v_minimum_f16 v_maximum_f16 873
v_cvt_pk_fp8_f32 v_cvt_pk_bf8_f32
)"},
    {Encoding::VOP3P, R"(
0 v_pk_mad_i16 v_pk_mul_lo_u16 v_pk_add_i16 v_pk_sub_i16 v_pk_lshlrev_b16
v_pk_lshrrev_b16 v_pk_ashrrev_i16 v_pk_max_i16 v_pk_min_i16 v_pk_mad_u16
v_pk_add_u16 v_pk_sub_u16 v_pk_max_u16 v_pk_min_u16 v_pk_fma_f16
v_pk_add_f16 v_pk_mul_f16 19 v_dot2_f32_f16 22 v_dot4_i32_iu8 v_dot4_u32_u8 v_dot8_i32_iu4 v_dot8_u32_u4
v_dot2_f32_bf16 v_pk_min_num_f16 v_pk_max_num_f16 v_pk_minimum_f16 v_pk_maximum_f16 32
v_fma_mix_f32
v_fma_mixlo_f16 v_fma_mixhi_f16 64 v_wmma_f32_16x16x16_f16
v_wmma_f32_16x16x16_bf16 68 v_wmma_i32_16x16x16_iu8 70
v_wmma_f32_16x16x16_fp8_fp8 v_wmma_f32_16x16x16_fp8_bf8
v_wmma_f32_16x16x16_bf8_fp8 v_wmma_f32_16x16x16_bf8_bf8
)"},
    {Encoding::VOPDX, R"(
0 v_dual_fmac_f32 v_dual_fmaak_f32 v_dual_fmamk_f32 v_dual_mul_f32
v_dual_add_f32 v_dual_sub_f32 v_dual_subrev_f32 v_dual_mul_dx9_zero_f32
v_dual_mov_b32 v_dual_cndmask_b32 v_dual_max_num_f32 v_dual_min_num_f32
)"},
    {Encoding::VOPDY, R"(
0 v_dual_fmac_f32 v_dual_fmaak_f32 v_dual_fmamk_f32 v_dual_mul_f32
v_dual_add_f32 v_dual_sub_f32 v_dual_subrev_f32 v_dual_mul_dx9_zero_f32
v_dual_mov_b32 v_dual_cndmask_b32 v_dual_max_num_f32 v_dual_min_num_f32 16
v_dual_add_nc_u32 v_dual_lshlrev_b32 v_dual_and_b32
)"},
    {Encoding::DS, R"(
0 ds_add_u32 ds_sub_u32 ds_rsub_u32 ds_inc_u32 ds_dec_u32 ds_min_i32
ds_max_i32 ds_min_u32 ds_max_u32 ds_and_b32 ds_or_b32 ds_xor_b32 13
ds_store_b32 ds_store_2addr_b32 ds_store_2addr_stride64_b32 ds_cmpstore_b32
18 ds_min_num_f32 ds_max_num_f32 21 ds_add_f32 30 ds_store_b8 ds_store_b16
ds_add_rtn_u32 ds_sub_rtn_u32 ds_rsub_rtn_u32 ds_inc_rtn_u32 ds_dec_rtn_u32
ds_min_rtn_i32 ds_max_rtn_i32 ds_min_rtn_u32 ds_max_rtn_u32 ds_and_rtn_b32
ds_or_rtn_b32 ds_xor_rtn_b32 45 ds_storexchg_rtn_b32 48 ds_cmpstore_rtn_b32
50 ds_min_num_rtn_f32 ds_max_num_rtn_f32 53 ds_swizzle_b32 ds_load_b32
ds_load_2addr_b32 ds_load_2addr_stride64_b32 ds_load_i8 ds_load_u8
ds_load_i16 ds_load_u16 64 ds_add_u64 ds_sub_u64 67 ds_inc_u64 ds_dec_u64
ds_min_i64 ds_max_i64 ds_min_u64 ds_max_u64 ds_and_b64 ds_or_b64 ds_xor_b64
77 ds_store_b64 ds_store_2addr_b64 ds_store_2addr_stride64_b64
ds_cmpstore_b64 82 ds_min_num_f64 ds_max_num_f64 96 ds_add_rtn_u64
ds_sub_rtn_u64 99 ds_inc_rtn_u64 ds_dec_rtn_u64 ds_min_rtn_i64
ds_max_rtn_i64 ds_min_rtn_u64 ds_max_rtn_u64 ds_and_rtn_b64 ds_or_rtn_b64
ds_xor_rtn_b64 109 ds_storexchg_rtn_b64 112 ds_cmpstore_rtn_b64 114
ds_min_num_rtn_f64 ds_max_num_rtn_f64 118 ds_load_b64 ds_load_2addr_b64
ds_load_2addr_stride64_b64 ds_add_rtn_f32 154 ds_pk_add_f16 ds_pk_add_bf16
160 ds_store_b8_d16_hi ds_store_b16_d16_hi ds_load_u8_d16 ds_load_u8_d16_hi
ds_load_i8_d16 ds_load_i8_d16_hi ds_load_u16_d16 ds_load_u16_d16_hi 170
ds_pk_add_rtn_f16 ds_pk_add_rtn_bf16 178 ds_permute_b32 ds_bpermute_b32 222
ds_store_b96 ds_store_b128 254 ds_load_b96 ds_load_b128
)"},
    {Encoding::FLAT, R"(
16 flat_load_u8 flat_load_i8 flat_load_u16 flat_load_i16 flat_load_b32
flat_load_b64 flat_load_b96 flat_load_b128 flat_store_b8 flat_store_b16
flat_store_b32 flat_store_b64 flat_store_b96 flat_store_b128
flat_load_d16_u8 flat_load_d16_i8 flat_load_d16_b16 flat_load_d16_hi_u8
flat_load_d16_hi_i8 flat_load_d16_hi_b16 flat_store_d16_hi_b8
flat_store_d16_hi_b16 51 flat_atomic_swap_b32 flat_atomic_cmpswap_b32
flat_atomic_add_u32 flat_atomic_sub_u32 56 flat_atomic_min_i32
flat_atomic_min_u32 flat_atomic_max_i32 flat_atomic_max_u32
flat_atomic_and_b32 flat_atomic_or_b32 flat_atomic_xor_b32
flat_atomic_inc_u32 flat_atomic_dec_u32 flat_atomic_swap_b64
flat_atomic_cmpswap_b64 flat_atomic_add_u64 flat_atomic_sub_u64
flat_atomic_min_i64 flat_atomic_min_u64 flat_atomic_max_i64
flat_atomic_max_u64 flat_atomic_and_b64 flat_atomic_or_b64
flat_atomic_xor_b64 flat_atomic_inc_u64 flat_atomic_dec_u64 81
flat_atomic_min_num_f32 flat_atomic_max_num_f32 86 flat_atomic_add_f32 89
flat_atomic_pk_add_f16 flat_atomic_pk_add_bf16
)"},
    {Encoding::GLOBAL, R"(
16 global_load_u8 global_load_i8 global_load_u16 global_load_i16
global_load_b32 global_load_b64 global_load_b96 global_load_b128
global_store_b8 global_store_b16 global_store_b32 global_store_b64
global_store_b96 global_store_b128 global_load_d16_u8 global_load_d16_i8
global_load_d16_b16 global_load_d16_hi_u8 global_load_d16_hi_i8
global_load_d16_hi_b16 global_store_d16_hi_b8 global_store_d16_hi_b16 43
global_inv global_wb 51 global_atomic_swap_b32 global_atomic_cmpswap_b32
global_atomic_add_u32 global_atomic_sub_u32 56 global_atomic_min_i32
global_atomic_min_u32 global_atomic_max_i32 global_atomic_max_u32
global_atomic_and_b32 global_atomic_or_b32 global_atomic_xor_b32
global_atomic_inc_u32 global_atomic_dec_u32 global_atomic_swap_b64
global_atomic_cmpswap_b64 global_atomic_add_u64 global_atomic_sub_u64
global_atomic_min_i64 global_atomic_min_u64 global_atomic_max_i64
global_atomic_max_u64 global_atomic_and_b64 global_atomic_or_b64
global_atomic_xor_b64 global_atomic_inc_u64 global_atomic_dec_u64 79
global_wbinv 81 global_atomic_min_num_f32 global_atomic_max_num_f32 86
global_atomic_add_f32 89 global_atomic_pk_add_f16 global_atomic_pk_add_bf16
)"},
    {Encoding::SCRATCH, R"(
16 scratch_load_u8 scratch_load_i8 scratch_load_u16 scratch_load_i16
scratch_load_b32 scratch_load_b64 scratch_load_b96 scratch_load_b128
scratch_store_b8 scratch_store_b16 scratch_store_b32 scratch_store_b64
scratch_store_b96 scratch_store_b128 scratch_load_d16_u8 scratch_load_d16_i8
scratch_load_d16_b16 scratch_load_d16_hi_u8 scratch_load_d16_hi_i8
scratch_load_d16_hi_b16 scratch_store_d16_hi_b8 scratch_store_d16_hi_b16
)"},
    {Encoding::MUBUF, R"(
16 buffer_load_u8 buffer_load_i8 buffer_load_u16 buffer_load_i16
buffer_load_b32 buffer_load_b64 buffer_load_b96 buffer_load_b128
buffer_store_b8 buffer_store_b16 buffer_store_b32 buffer_store_b64
buffer_store_b96 buffer_store_b128 buffer_load_d16_u8 buffer_load_d16_i8
buffer_load_d16_b16 buffer_load_d16_hi_u8 buffer_load_d16_hi_i8
buffer_load_d16_hi_b16 buffer_store_d16_hi_b8 buffer_store_d16_hi_b16 51
buffer_atomic_swap_b32 buffer_atomic_cmpswap_b32 buffer_atomic_add_u32
buffer_atomic_sub_u32 56 buffer_atomic_min_i32 buffer_atomic_min_u32
buffer_atomic_max_i32 buffer_atomic_max_u32 buffer_atomic_and_b32
buffer_atomic_or_b32 buffer_atomic_xor_b32 buffer_atomic_inc_u32
buffer_atomic_dec_u32 buffer_atomic_swap_b64 buffer_atomic_cmpswap_b64
buffer_atomic_add_u64 buffer_atomic_sub_u64 buffer_atomic_min_i64
buffer_atomic_min_u64 buffer_atomic_max_i64 buffer_atomic_max_u64
buffer_atomic_and_b64 buffer_atomic_or_b64 buffer_atomic_xor_b64
buffer_atomic_inc_u64 buffer_atomic_dec_u64 81 buffer_atomic_min_num_f32
buffer_atomic_max_num_f32 86 buffer_atomic_add_f32 89
buffer_atomic_pk_add_f16 buffer_atomic_pk_add_bf16
)"},
};

std::span<const EncodingText> rdna4Opcodes() { return texts; }

} // namespace nereid::sim::amd
