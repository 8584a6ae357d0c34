"""The functions that kernels may call, by module, as `nereid builtins` lists them (a test compares)."""

NAMES = {
    "triton.language": """
        _aggregate _experimental_make_tensor_descriptor _log2 abs add advance aggregate_replace arange argmax argmin
        associative_scan assume atomic_add atomic_and atomic_cas atomic_load atomic_max atomic_min atomic_or
        atomic_poll atomic_store atomic_xchg atomic_xor bitonic_merge block_type broadcast broadcast_to builtin cast
        cat cdiv ceil clamp condition cos cumprod cumsum debug_barrier device_assert device_print div_rn dot
        dot_scaled erf exp exp2 expand_dims expect_zero extern extern_elementwise extract_slice fdiv flip floor fma
        full gather get_int_dtype histogram inline_asm_elementwise interleave item join load load_tensor_descriptor
        log log2 logical_and logical_or make_block_ptr make_tensor_descriptor map_elementwise max max_constancy
        max_contiguous maximum min minimum mul multiple_of num_programs pair_uniform_to_normal permute philox
        philox_impl pointer_type program_id rand rand4x randint randint4x randn randn4x range ravel reduce reduce_or
        reshape rsqrt sigmoid sin softmax sort split sqrt sqrt_rn squeeze static_assert static_print static_range
        store store_tensor_descriptor sub sum swizzle2d to to_tensor topk trans uint_to_uniform_float umulhi unsqueeze
        view where xor_sum zeros zeros_like
    """.split(),
    "triton.language.math": """
        abs ceil cos div_rn erf exp exp2 fdiv floor fma log log2 rsqrt sin sqrt sqrt_rn umulhi
    """.split(),
    "triton.language.extra.libdevice": """
        abs acos acosh add_rd add_rn add_ru add_rz asin asinh atan atan2 atanh brev byte_perm cbrt ceil clz copysign
        cos cosh cospi cyl_bessel_i0 cyl_bessel_i1 div_rd div_rn div_ru div_rz double2float_rd double2float_rn
        double2float_ru double2float_rz double2hiint double2int_rd double2int_rn double2int_ru double2int_rz
        double2ll_rd double2ll_rn double2ll_ru double2ll_rz double2loint double2uint_rd double2uint_rn double2uint_ru
        double2uint_rz double2ull_rd double2ull_rn double2ull_ru double2ull_rz double_as_longlong erf erfc erfcinv
        erfcx erfinv exp exp10 exp2 expm1 fast_cosf fast_dividef fast_erf fast_exp10f fast_expf fast_gelu fast_log10f
        fast_log2f fast_logf fast_powf fast_sigmoid fast_sinf fast_tanf fast_tanh fast_tanhf fdim ffs finitef
        float2int_rd float2int_rn float2int_ru float2int_rz float2ll_rd float2ll_rn float2ll_ru float2ll_rz
        float2uint_rd float2uint_rn float2uint_ru float2uint_rz float2ull_rd float2ull_rn float2ull_ru float2ull_rz
        float_as_int float_as_uint floor fma fma_rd fma_rn fma_ru fma_rz fmod hadd hiloint2double hypot ilogb
        int2double_rn int2float_rd int2float_rn int2float_ru int2float_rz int_as_float isfinited isinf isnan j0 j1 jn
        ldexp lgamma ll2double_rd ll2double_rn ll2double_ru ll2double_rz ll2float_rd ll2float_rn ll2float_ru
        ll2float_rz llrint llround log log10 log1p log2 logb longlong_as_double mul24 mul_rd mul_rn mul_ru mul_rz
        mulhi nearbyint nextafter norm3d norm4d normcdf normcdfinv philox popc pow rcbrt rcp64h rcp_rd rcp_rn rcp_ru
        rcp_rz remainder rhadd rhypot rint rnorm3d rnorm4d round rsqrt rsqrt_rn sad saturatef scalbn signbit sin sinh
        sinpi sqrt sqrt_rd sqrt_rn sqrt_ru sqrt_rz sub_rd sub_rn sub_ru sub_rz tan tanh tgamma trunc uint2double_rn
        uint2float_rd uint2float_rn uint2float_ru uint2float_rz uint_as_float ull2double_rd ull2double_rn
        ull2double_ru ull2double_rz ull2float_rd ull2float_rn ull2float_ru ull2float_rz umulhi y0 y1 yn
    """.split(),
    "triton.language.extra.cuda": """
        gdc_launch_dependents gdc_wait globaltimer num_threads num_warps smid
    """.split(),
    "triton.language.extra.hip": """
        memrealtime
    """.split(),
    "triton.language.target_info": """
        cuda_capability_geq current_target is_cuda is_hip is_hip_cdna3 is_hip_cdna4 is_hip_gfx1250 is_xpu
    """.split(),
}
