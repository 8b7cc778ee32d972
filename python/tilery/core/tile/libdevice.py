"""Elementwise functions under the names of CUDA's libdevice, made from the table of functions."""

from ..functions import ROWS as _ROWS
from ..functions import Namespace as _Namespace
from .elementwise import call as _call

# Names of upstream, by the reason why those without a row are not offered.
_REFUSED = {
    "Tilery does not have it yet": """
        clz popc byte_perm mulhi mul24 brev sad rcp64h saturatef ffs hadd rhadd ll2float ull2float
        fma_rn fma_rz fma_rd fma_ru div_rz div_rd div_ru rcp_rn rcp_rz rcp_rd rcp_ru sqrt_rz sqrt_rd sqrt_ru rsqrt_rn
        add_rn add_rz add_rd add_ru mul_rn mul_rz mul_rd mul_ru sub_rn sub_rz sub_rd sub_ru
        double2float_rn double2float_rz double2float_rd double2float_ru double2int_rn double2int_rz double2int_rd double2int_ru
        double2uint_rn double2uint_rz double2uint_rd double2uint_ru double2ll_rn double2ll_rz double2ll_rd double2ll_ru
        double2ull_rn double2ull_rz double2ull_rd double2ull_ru int2double_rn uint2double_rn ll2double_rn ll2double_rz
        ll2double_rd ll2double_ru ull2double_rn ull2double_rz ull2double_rd ull2double_ru float2int_rn float2int_rz float2int_rd
        float2int_ru float2uint_rn float2uint_rz float2uint_rd float2uint_ru int2float_rn int2float_rz int2float_rd int2float_ru
        uint2float_rn uint2float_rz uint2float_rd uint2float_ru float2ll_rn float2ll_rz float2ll_rd float2ll_ru float2ull_rn
        float2ull_rz float2ull_rd float2ull_ru ll2float_rn ll2float_rz ll2float_rd ll2float_ru ull2float_rn ull2float_rz
        ull2float_rd ull2float_ru hiloint2double double2loint double2hiint int_as_float float_as_int uint_as_float float_as_uint
        longlong_as_double double_as_longlong fast_tanf fast_exp10f fast_log10f llrint llround signbit nextafter sinpi cospi
        hypot rhypot norm3d rnorm3d norm4d rnorm4d rcbrt j0 j1 jn y0 y1 yn cyl_bessel_i0 cyl_bessel_i1 erfinv erfc erfcx erfcinv
        normcdf normcdfinv lgamma tgamma ldexp scalbn remainder fdim ilogb logb""",
}

__getattr__, __dir__, __all__ = _Namespace(__name__, "libdevice", _ROWS, _call, "libdevice", _REFUSED).hooks()
