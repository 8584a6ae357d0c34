# Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gamma, error functions and their inverses, Bessel functions.

Rare in kernels, so fp32 goes through fp64: one definition, within one ulp of
fp32. Each function states its fp64 error. Coefficient tables were computed in
40 digits from the definitions named (DLMF sections).
"""

import triton
import triton.language as tl
from triton.language.extra import libdevice

PI: tl.constexpr = 3.141592653589793
INF: tl.constexpr = float("inf")
NAN: tl.constexpr = float("nan")


@triton.jit
def _polynomial(x, coefficients: tl.constexpr):
    """Horner; the highest power's coefficient comes first."""
    result = tl.full(x.shape, coefficients[0], tl.float64)
    for i in tl.static_range(1, len(coefficients)):
        result = result * x + coefficients[i]
    return result


@triton.jit
def _chebyshev(t, coefficients: tl.constexpr):
    """sum c_k T_k(t) for t in [-1, 1]: Clenshaw's recurrence."""
    b1 = tl.full(t.shape, 0, tl.float64)
    b2 = tl.full(t.shape, 0, tl.float64)
    n: tl.constexpr = len(coefficients)
    for i in tl.static_range(1, n):
        b0 = 2 * t * b1 - b2 + coefficients[n - i]
        b2 = b1
        b1 = b0
    return t * b1 - b2 + coefficients[0]


# --- Gamma -----------------------------------------------------------------

# lgamma(2 + t) = t (1 - gamma) + sum (-1)^k (zeta(k) - 1) t^k / k: DLMF 5.7.3.
LGAMMA_AT_TWO: tl.constexpr = (
    -2.7595228851242334e-10, 5.731367241678862e-10, -1.1921401405860912e-09, 2.4836745438024785e-09,
    -5.183475041970047e-09, 1.0838659214896955e-08, -2.2711094608943164e-08, 4.7698101693639804e-08,
    -1.0043224823968099e-07, 2.1207184805554665e-07, -4.492469198764566e-07, 9.55141213040742e-07,
    -2.039215753801366e-06, 4.374866789907488e-06, -9.439488275268397e-06, 2.050721277567069e-05,
    -4.492623673813314e-05, 9.945751278180853e-05, -0.00022315475845357939, 0.0005096695247430425,
    -0.001192753911703261, 0.0028905103307415234, -0.007385551028673986, 0.020580808427784546, -0.0673523010531981,
    0.3224670334241132, 0.42278433509846713)
# Stirling's series in 1/x, times x: B_2k / (2k (2k - 1)), DLMF 5.11.1.
STIRLING: tl.constexpr = (
    -1.3924322169059011, 0.17964437236883057, -0.029550653594771242, 0.00641025641025641, -0.0019175269175269176,
    0.0008417508417508417, -0.0005952380952380953, 0.0007936507936507937, -0.002777777777777778, 0.08333333333333333)

@triton.jit
def _stirling_tail(x):
    """lgamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2), for x >= 8."""
    w = 1 / x
    return w * _polynomial(w * w, STIRLING)


@triton.jit
def _lgamma_positive(x):
    """x > 0. Up to 8.5 the argument is brought into [1.5, 2.5] by
    Gamma(x + 1) = x Gamma(x); beyond, Stirling."""
    small = x < 8.5
    y = tl.where(small, x, 2.0)
    product = tl.full(x.shape, 1, tl.float64)
    for _ in tl.static_range(6):
        down = y > 2.5
        y = tl.where(down, y - 1, y)
        product = tl.where(down, product * y, product)
    up = y < 1.5
    t = tl.where(up, y - 1, y - 2)
    near = t * _polynomial(t, LGAMMA_AT_TWO) + libdevice.log(product)
    near = tl.where(up, near - libdevice.log1p(t), near)
    big = tl.where(small, 10.0, x)
    far = (big - 0.5) * libdevice.log(big) - big + 0.9189385332046728 + _stirling_tail(big)
    return tl.where(small, near, tl.where(x == INF, INF, far))


@triton.jit
def _lgamma(x):
    """log |Gamma(x)|; infinite at 0, -1, -2, ... Below 1/2 by reflection:
    Gamma(x) Gamma(1 - x) = pi / sin(pi x)."""
    reflect = x < 0.5
    direct = _lgamma_positive(tl.where(reflect, 1 - x, x))
    sine = tl.abs(libdevice.sinpi(tl.abs(x)))
    reflected = tl.where(sine == 0, INF, libdevice.log(PI / sine) - direct)
    result = tl.where(reflect, reflected, direct)
    return tl.where(x != x, x, tl.where(tl.abs(x) == INF, INF, result))


@triton.jit
def lgamma(x):
    """fp64: 20 ulp, or 1e-15 absolute near the zeros below 0."""
    return _lgamma(x.to(tl.float64)).to(x.dtype)


@triton.jit
def _tgamma_positive(x):
    """x >= 1/2. The power of Stirling's formula is split in two, since
    x^(x - 1/2) overflows before Gamma does."""
    small = x < 8.5
    y = tl.where(small, x, 2.0)
    product = tl.full(x.shape, 1, tl.float64)
    for _ in tl.static_range(6):
        down = y > 2.5
        y = tl.where(down, y - 1, y)
        product = tl.where(down, product * y, product)
    up = y < 1.5
    t = tl.where(up, y - 1, y - 2)
    near = product * libdevice.exp(t * _polynomial(t, LGAMMA_AT_TWO))
    near = tl.where(up, near / (1 + t), near)
    big = tl.where(small, 10.0, x)
    root = libdevice.pow(big, 0.5 * big - 0.25)
    far = 2.5066282746310002 * root * libdevice.exp(-big) * root * libdevice.exp(_stirling_tail(big))
    return tl.where(small, near, tl.where(x > 171.7, INF, far))


@triton.jit
def _tgamma(x):
    reflect = x < 0.5
    direct = _tgamma_positive(tl.where(reflect, 1 - x, x))
    reflected = PI / (libdevice.sinpi(x) * direct)
    result = tl.where(reflect, reflected, direct)
    is_pole = (x < 0) & (tl.floor(x) == x)
    result = tl.where(x == 0, 1 / x, tl.where(is_pole, NAN, result))
    return tl.where(x != x, x, result)


@triton.jit
def tgamma(x):
    """fp64: 2e-14 relative; NaN at negative integers and -inf."""
    return _tgamma(x.to(tl.float64)).to(x.dtype)


# --- Error functions -------------------------------------------------------

# (-1)^k (2k - 1)!! / 2^k for k = 12 .. 0: erfcx in 1 / x^2, DLMF 7.12.1.
ERFCX_TAIL: tl.constexpr = (
    77205601.37329102, -6713530.554199219, 639383.8623046875, -67303.564453125, 7918.06640625, -1055.7421875,
    162.421875, -29.53125, 6.5625, -1.875, 0.75, -0.5, 1.0)
# Giles, "Approximating the erfinv function", GPU Computing Gems Jade, 2011:
# the single-precision fits, used as a start.
ERFINV_CENTRE: tl.constexpr = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164,
    0.246640727, 1.50140941)
ERFINV_TAIL: tl.constexpr = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
    1.00167406, 2.83297682)
TWO_OVER_SQRT_PI: tl.constexpr = 1.1283791670955126


@triton.jit
def _erfcx(x):
    """exp(x^2) erfc(x). x^2 is formed as h^2 + (x - h)(x + h), h the upper half
    of x, whose square is exact."""
    h = x.to(tl.float32).to(tl.float64)
    near = libdevice.exp(h * h) * libdevice.exp((x - h) * (x + h)) * libdevice.erfc(x)
    w = 1 / x
    far = 0.5641895835477563 * w * _polynomial(w * w, ERFCX_TAIL)
    result = tl.where(x < 10.0, near, far)
    return tl.where(x < -26.7, INF, result)


@triton.jit
def erfcx(x):
    """fp64: 1e-14 relative."""
    return _erfcx(x.to(tl.float64)).to(x.dtype)


@triton.jit
def _inverse_start(w):
    """erfinv(y) / y to 1e-6 for w = -log(1 - y^2) < 16; further out the first
    terms of the asymptotic series of erfc."""
    centre = _polynomial(w - 2.5, ERFINV_CENTRE)
    tail = _polynomial(libdevice.sqrt(w) - 3, ERFINV_TAIL)
    # Here erfc(x) = e^-w / 2, so x^2 = w + log 2 - log(x sqrt(pi)).
    far = libdevice.sqrt(w - 0.5 * libdevice.log(PI * w) + 0.6931471805599453)
    far = libdevice.sqrt(w + 0.6931471805599453 - libdevice.log(1.772453850905516 * far))
    return tl.where(w < 5, centre, tl.where(w < 16, tail, far))


@triton.jit
def _erfcinv_lower(q):
    """x >= 0 with erfc(x) = q, for 0 < q <= 1: Halley's method, whose step for
    f = erfc(x) - q is u / (1 + x u) with u = -f / f'. The residual is formed
    where it loses nothing: with erf near 0, with erfc beyond. Where erfc has
    few bits left or none, Newton's method for log erfc(x) = log q."""
    w = -libdevice.log(q * (2 - q))
    y = 1 - q
    x = tl.where(w < 16, y, 1.0) * _inverse_start(tl.maximum(w, 0.0))
    is_tiny = q < 1e-290
    far = tl.where(is_tiny, x, 26.0)
    log_q = libdevice.log(tl.where(is_tiny, q, 1e-290))
    for _ in tl.static_range(2):
        scaled = _erfcx(far)
        far = far + (libdevice.log(scaled) - far * far - log_q) * scaled / TWO_OVER_SQRT_PI
    for _ in tl.static_range(3):
        residual = tl.where(q > 0.5, (1 - q) - libdevice.erf(x), libdevice.erfc(x) - q)
        slope = TWO_OVER_SQRT_PI * libdevice.exp(-x * x)
        u = tl.where(slope > 0, residual / slope, 0.0)
        x = x + u / (1 - x * u)
    return tl.where(is_tiny, far, x)


@triton.jit
def _erfcinv(q):
    upper = q > 1
    folded = tl.where(upper, 2 - q, q)
    x = _erfcinv_lower(tl.where(folded > 0, folded, 0.5))
    x = tl.where(upper, -x, x)
    x = tl.where(q == 0, INF, tl.where(q == 2, -INF, x))
    return tl.where((q >= 0) & (q <= 2), x, NAN)


@triton.jit
def _erfinv(y):
    a = tl.abs(y)
    w = -libdevice.log1p(-a * a)
    x = a * _inverse_start(tl.where(a < 1, w, 0.0))
    for _ in tl.static_range(2):
        residual = tl.where(a < 0.5, a - libdevice.erf(x), libdevice.erfc(x) - (1 - a))
        slope = TWO_OVER_SQRT_PI * libdevice.exp(-x * x)
        u = tl.where(slope > 0, residual / slope, 0.0)
        x = x + u / (1 - x * u)
    x = tl.where(y < 0, x * -1.0, x)
    x = tl.where(a == 1, y * INF, tl.where(y == 0, y, x))
    return tl.where(a <= 1, x, NAN)


@triton.jit
def erfinv(x):
    """fp64: 6 ulp."""
    return _erfinv(x.to(tl.float64)).to(x.dtype)


@triton.jit
def erfcinv(x):
    """fp64: 1e-14 relative."""
    return _erfcinv(x.to(tl.float64)).to(x.dtype)


@triton.jit
def normcdf(x):
    """The normal distribution's cumulative probability, erfc(-x / sqrt(2)) / 2.
    fp64: relative error x^2 eps in the lower tail, where erfc amplifies that of
    its argument."""
    return (0.5 * libdevice.erfc(x.to(tl.float64) * -0.7071067811865476)).to(x.dtype)


@triton.jit
def normcdfinv(x):
    return (-1.4142135623730951 * _erfcinv(2 * x.to(tl.float64))).to(x.dtype)


# --- Bessel functions ------------------------------------------------------
# Chebyshev series. Up to 8, in x^2 / 32 - 1; beyond, in 128 / x^2 - 1 for the
# modulus and phase functions P and Q of Hankel's expansion (DLMF 10.17):
#   J_n(x) = sqrt(2 / (pi x)) (P cos(c) - Q sin(c)),  c = x - (2 n + 1) pi / 4
#   Y_n(x) = sqrt(2 / (pi x)) (P sin(c) + Q cos(c))
# Errors are 1e-15 absolute up to 8, and grow with x eps beyond.

J0_SMALL: tl.constexpr = (
    0.15772797147489012, -0.008723442352852221, 0.2651786132033368, -0.37009499387264977, 0.15806710233209725,
    -0.034893769411408884, 0.004819180069467605, -0.00046062616620627504, 3.246032882100508e-05,
    -1.7619469077621507e-06, 7.608163592418782e-08, -2.679253530557673e-09, 7.848696314479465e-11,
    -1.9438346867370164e-12, 4.125320595634374e-14, -7.588508125447546e-16, 1.2218515873961411e-17)
J1_SMALL: tl.constexpr = (
    0.08104484632565812, -0.1489751450676521, 0.1609992623572097, -0.08268049176681791, 0.022213639654966037,
    -0.003646940600769276, 0.0004050337728354822, -3.255554866857259e-05, 1.9858774049915165e-06,
    -9.521984756750436e-08, 3.687133759097148e-09, -1.178026622695885e-10, 3.160154580348003e-12,
    -7.221755239651773e-14, 1.4232144003513942e-15, -2.4441972916190464e-17)
Y0_SMALL: tl.constexpr = (
    -0.03314611320328494, -0.2744743055297453, 0.17903431407718265, 0.26156734625504663, -0.17730201278114358,
    0.04719668959576339, -0.007287962479552079, 0.0007531135932577742, -5.632079141056987e-05, 3.206532537654801e-06,
    -1.44072332740187e-07, 5.248794787330516e-09, -1.5837552541812015e-10, 4.02633081830612e-12,
    -8.747341203310769e-14, 1.6434898714919468e-15, -2.6977881152566837e-17)
Y1_SMALL: tl.constexpr = (
    0.0025380132357417816, -0.01608717304766875, -0.09591204536083074, 0.08445197259652346, -0.028328123944594365,
    0.005289897544167113, -0.0006414551451326356, 5.505982873338744e-05, -3.53808001868935e-06,
    1.7707804556154404e-07, -7.11055004989928e-09, 2.344337905911516e-10, -6.4651518414115946e-12,
    1.51429151205002e-13, -3.0511859694473254e-15, 5.34668038572867e-17)
BESSEL_P0: tl.constexpr = (
    0.9994603493475187, -0.0005365220468132117, 3.0751847875194745e-06, -5.1705945376060975e-08,
    1.6306464635151382e-09, -7.86409137723707e-11, 5.168262387349193e-12, -4.3045788699253914e-13,
    4.3265957431549404e-14, -5.069034095935236e-15, 6.748072215733873e-16, -1.0011513723467786e-16,
    1.6305919233744186e-17)
BESSEL_Q0: tl.constexpr = (
    -0.12444683684269607, 0.0005470815954089319, -5.9315987288485175e-06, 1.4377965798375193e-07,
    -5.817532749493056e-09, 3.376097523734991e-10, -2.565397936797308e-11, 2.404916100281365e-12,
    -2.6690625482579414e-13, 3.4041800321963686e-14, -4.87994410531204e-15, 7.729703176242605e-16,
    -1.3348852171502517e-16, 2.4865952389390515e-17, -4.952892629886516e-18)
BESSEL_P1: tl.constexpr = (
    1.0009030408600137, 0.0008989898330859408, -3.987284300488908e-06, 6.177633960644299e-08,
    -1.8718907491063067e-09, 8.816898659582339e-11, -5.704863640395645e-12, 4.699195515230542e-13,
    -4.6842237839904895e-14, 5.452674896044717e-15, -7.221180842274018e-16, 1.0667689114335412e-16,
    -1.7312313216116335e-17)
BESSEL_Q1: tl.constexpr = (
    0.3742222965562826, -0.0007702178839325664, 7.3108922063643636e-06, -1.676782510726674e-07,
    6.583354662120443e-09, -3.749090950541556e-10, 2.8121750359748866e-11, -2.61145253946232e-12,
    2.8774212663332235e-13, -3.649001916061838e-14, 5.206626366226707e-15, -8.215318025458595e-16,
    1.4141084390211833e-16, -2.626761589838529e-17, 5.2192649196714085e-18)
I0_SMALL: tl.constexpr = (
    0.33839763720473803, -0.3046826723431984, 0.17162090152220877, -0.09490109704804764, 0.04930528423967071,
    -0.02373741480589947, 0.010546460394594998, -0.004324309995050576, 0.0016394756169413357, -0.0005763755745385824,
    0.00018850288509584165, -5.754195010082104e-05, 1.6448448070728896e-05, -4.4167383584587505e-06,
    1.1173875391201037e-06, -2.670793853940612e-07, 6.046995022541919e-08, -1.300025009986248e-08,
    2.6598237246823866e-09, -5.189795601635263e-10, 9.675809035373237e-11, -1.726826291441556e-11,
    2.95505266312964e-12, -4.856446783111929e-13, 7.676185498604936e-14, -1.1685332877993451e-14,
    1.715391285555133e-15, -2.431279846547955e-16, 3.3307945188222384e-17, -4.4153416464793395e-18)
I0_LARGE: tl.constexpr = (
    0.4022452055070544, 0.0033691164782556943, 6.889758346916825e-05, 2.8913705208347567e-06, 2.0489185894690638e-07,
    2.266668990498178e-08, 3.3962320257083865e-09, 4.94060238822497e-10, 1.1889147107846439e-11,
    -3.1499165279632416e-11, -1.3215811840447713e-11, -1.7941785315068062e-12, 7.180124451383666e-13,
    3.8527783827421426e-13, 1.54008621752141e-14, -4.150569347287222e-14, -9.554846698828307e-15,
    3.8116806693526224e-15, 1.7725601330565263e-15, -3.425485619677219e-16, -2.8276239805165836e-16,
    3.461222867697461e-17, 4.46562142029676e-17, -4.830504485944182e-18, -7.233180487874754e-18)
I1_SMALL: tl.constexpr = (
    0.12629359322181682, -0.17641651835783406, 0.1026436586898471, -0.05294598120809499, 0.024726449030626516,
    -0.010564084894626197, 0.004156422944312888, -0.0015135724506312532, 0.0005122859561685758,
    -0.00016176081582589674, 4.781565107550054e-05, -1.3273163656039436e-05, 3.4702513081376785e-06,
    -8.568720264695455e-07, 2.0032947535521353e-07, -4.445059128796328e-08, 9.381537386495773e-09,
    -1.8872497517228294e-09, 3.625590281552117e-10, -6.663489723502027e-11, 1.1736186298890901e-11,
    -1.9839743977649436e-12, 3.223793365945575e-13, -5.042185504727912e-14, 7.600684294735408e-15,
    -1.1055969477353862e-15, 1.5536319577362005e-16, -2.111421214358166e-17, 2.7779141127610464e-18)
I1_LARGE: tl.constexpr = (
    0.38928811750914005, -0.009761097491361469, -0.00011058893876262371, -3.882564808877691e-06,
    -2.512236237870209e-07, -2.6314688468895196e-08, -3.835380385964237e-09, -5.589743462196584e-10,
    -1.8974958123505413e-11, 3.2526035830154884e-11, 1.4125807436613782e-11, 2.0356285441470896e-12,
    -7.198551776245908e-13, -4.0835511110921974e-13, -2.1015418427726643e-14, 4.272440016711951e-14,
    1.0420276984128802e-14, -3.8144030724370075e-15, -1.8803547755107825e-15, 3.3082023109209285e-16,
    2.96262899764595e-16, -3.209525921993424e-17, -4.6503053684893586e-17, 4.414348323071708e-18,
    7.517296310842105e-18)

@triton.jit
def _hankel(x, p: tl.constexpr, q: tl.constexpr, order: tl.constexpr):
    """(J, Y) of order 0 or 1 for x >= 8. cos(x - pi/4) and its like come from
    sin x and cos x, which reduce x exactly."""
    t = 128 / (x * x) - 1
    modulus = libdevice.sqrt(0.6366197723675814 / x)
    big_p = _chebyshev(t, p)
    big_q = _chebyshev(t, q) / x
    s = libdevice.sin(x)
    c = libdevice.cos(x)
    half: tl.constexpr = 0.7071067811865476
    if order == 0:
        cosine = half * (c + s)
        sine = half * (s - c)
    else:
        cosine = half * (s - c)
        sine = -half * (s + c)
    return modulus * (big_p * cosine - big_q * sine), modulus * (big_p * sine + big_q * cosine)


@triton.jit
def _j0(x):
    a = tl.abs(x)
    small = a < 8
    near = _chebyshev(tl.where(small, a * a * 0.03125 - 1, 0.0), J0_SMALL)
    far, _ = _hankel(tl.where(small, 8.0, a), BESSEL_P0, BESSEL_Q0, 0)
    return tl.where(small, near, tl.where(a == INF, 0.0, far))


@triton.jit
def _j1(x):
    a = tl.abs(x)
    small = a < 8
    near = a * _chebyshev(tl.where(small, a * a * 0.03125 - 1, 0.0), J1_SMALL)
    far, _ = _hankel(tl.where(small, 8.0, a), BESSEL_P1, BESSEL_Q1, 1)
    result = tl.where(small, near, tl.where(a == INF, 0.0, far))
    return tl.where(x < 0, result * -1.0, result)


@triton.jit
def _y0(x):
    small = x < 8
    z = tl.where(small, x, 1.0)
    near = _chebyshev(z * z * 0.03125 - 1, Y0_SMALL) + 0.6366197723675814 * libdevice.log(z) * _j0(z)
    _, far = _hankel(tl.where(small, 8.0, x), BESSEL_P0, BESSEL_Q0, 0)
    result = tl.where(small, near, tl.where(x == INF, 0.0, far))
    return tl.where(x == 0, -INF, tl.where(x > 0, result, NAN))


@triton.jit
def _y1(x):
    small = x < 8
    z = tl.where(small, x, 1.0)
    series = z * _chebyshev(z * z * 0.03125 - 1, Y1_SMALL)
    near = series + 0.6366197723675814 * (libdevice.log(z) * _j1(z) - 1 / z)
    _, far = _hankel(tl.where(small, 8.0, x), BESSEL_P1, BESSEL_Q1, 1)
    result = tl.where(small, near, tl.where(x == INF, 0.0, far))
    return tl.where(x == 0, -INF, tl.where(x > 0, result, NAN))


@triton.jit
def j0(x):
    return _j0(x.to(tl.float64)).to(x.dtype)


@triton.jit
def j1(x):
    return _j1(x.to(tl.float64)).to(x.dtype)


@triton.jit
def y0(x):
    return _y0(x.to(tl.float64)).to(x.dtype)


@triton.jit
def y1(x):
    return _y1(x.to(tl.float64)).to(x.dtype)


@triton.jit
def _bessel_i(a, small_table: tl.constexpr, large_table: tl.constexpr):
    """e^-a I_n(a) for a >= 0, without the factor a of I_1 up to 8. DLMF 10.40."""
    small = a < 8
    near = _chebyshev(tl.where(small, a * 0.25 - 1, 0.0), small_table)
    big = tl.where(small, 8.0, a)
    return near, _chebyshev(16 / big - 1, large_table) / libdevice.sqrt(big)


@triton.jit
def cyl_bessel_i0(x):
    """fp64: 1e-14 relative."""
    a = tl.abs(x.to(tl.float64))
    near, far = _bessel_i(a, I0_SMALL, I0_LARGE)
    half = libdevice.exp(0.5 * a)
    return tl.where(a == INF, INF, half * tl.where(a < 8, near, far) * half).to(x.dtype)


@triton.jit
def cyl_bessel_i1(x):
    """fp64: 1e-14 relative."""
    z = x.to(tl.float64)
    a = tl.abs(z)
    near, far = _bessel_i(a, I1_SMALL, I1_LARGE)
    half = libdevice.exp(0.5 * a)
    result = tl.where(a == INF, INF, half * tl.where(a < 8, a * near, far) * half)
    return tl.where(z < 0, result * -1.0, result).to(x.dtype)


@triton.jit
def _jn_of(n, x, order0, order1):
    """J_n of x >= 0 from J_0 and J_1. Upward the recurrence
        J_(k+1) = 2 k / x J_k - J_(k-1)
    is stable while k < x. Beyond, it is run downward from an order so large
    that any start is as good, and scaled by J_0 + 2 (J_2 + J_4 + ...) = 1
    (Miller's way; DLMF 3.6(iv))."""
    result = order0
    if n == 1:
        result = order1
    elif n > 1:
        if x > n:
            below = order0
            result = order1
            for k in range(1, n):
                above = (2.0 * k / x) * result - below
                below = result
                result = above
        elif x == 0:
            result = order0 * 0
        else:
            start = 2 * ((n + (libdevice.sqrt(160.0 * n)).to(tl.int32)) // 2)
            above = order0 * 0
            now = above + 1.0
            total = above
            result = above
            for i in range(start):
                k = start - i
                below = (2.0 * k / x) * now - above
                above = now
                now = below
                if tl.abs(now) > 1e100:
                    now = now * 1e-100
                    above = above * 1e-100
                    total = total * 1e-100
                    result = result * 1e-100
                if k - 1 == n:
                    result = now
                if (k - 1) % 2 == 0:
                    if k > 1:
                        total += 2.0 * now
            result = result / (total + now)
    return result


@triton.jit
def jn(n, x):
    z = x.to(tl.float64)
    a = tl.abs(z)
    result = tl.map_elementwise(_jn_of, n, a, _j0(a), _j1(a))
    result = tl.where((z < 0) & (n % 2 == 1), result * -1.0, result)
    return tl.where((n < 0) | (z != z), NAN, tl.where((a == INF), 0.0, result)).to(x.dtype)


@triton.jit
def _yn_of(n, x, order0, order1):
    """The recurrence of Bessel functions, stable upward for these."""
    result = order0
    if n > 0:
        below = order0
        result = order1
        for k in range(1, n):
            above = (2.0 * k / x) * result - below
            below = result
            result = above
            if result == -INF:
                below = order0 * 0
    return result


@triton.jit
def yn(n, x):
    z = x.to(tl.float64)
    inside = (z > 0) & (z < INF)
    safe = tl.where(inside, z, 1.0)
    result = tl.map_elementwise(_yn_of, n, safe, _y0(safe), _y1(safe))
    edge = tl.where(z == 0, -INF, tl.where(z == INF, 0.0, NAN))
    return tl.where((n < 0) | (z != z), NAN, tl.where(inside, result, edge)).to(x.dtype)
