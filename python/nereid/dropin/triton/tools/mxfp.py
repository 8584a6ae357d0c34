"""Numbers of the OCP microscaling formats as torch tensors, for tests: FP4 (E2M1) and scales (E8M0), one in each byte of `data`."""
import torch

#: The magnitudes of E2M1 by their codes, and the middles between neighbours.
_MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_MIDDLES = tuple((low + high) / 2 for low, high in zip(_MAGNITUDES, _MAGNITUDES[1:]))
_BIAS, _NAN = 127, 255  # of E8M0


class _Coded:

    def __init__(self, data=None, size=None, device=None):
        if data is None and size is None:
            raise ValueError(f"{type(self).__name__}: expected data or a size, got neither")
        self.device = device if device is not None or data is None else data.device
        self.size = tuple(size) if size is not None else tuple(data.shape)
        self.data = None if data is None else self._encode(torch.as_tensor(data, device=self.device))

    def to(self, dtype):
        """The values: float32, or the 16-bit floats that hold them."""
        if self.data is None:
            raise ValueError(f"{type(self).__name__}.to: expected numbers, got none; hint: give data, or call random()")
        return self._decode().to(dtype)


class MXFP4Tensor(_Coded):
    """0 to 6 and their negatives. `data` holds a code a byte: the sign's bit, two of the exponent, one of the mantissa."""

    def random(self):
        self.data = torch.randint(0, 16, self.size, dtype=torch.uint8, device=self.device)
        return self

    @staticmethod
    def _encode(values):
        middles = torch.tensor(_MIDDLES, device=values.device, dtype=torch.float64)
        magnitudes = values.abs().double().unsqueeze(-1)
        is_odd = torch.arange(len(_MIDDLES), device=values.device) % 2 == 1
        # In the middle the even code is taken.
        codes = (magnitudes > middles).sum(-1) + ((magnitudes == middles) & is_odd).sum(-1)
        return (codes | torch.signbit(values).long() << 3).to(torch.uint8)

    def _decode(self):
        magnitudes = torch.tensor(_MAGNITUDES, device=self.data.device)[(self.data & 7).long()]
        return torch.where(self.data & 8 != 0, -magnitudes, magnitudes)

    def to_packed_tensor(self, dim):
        """Two codes a byte along `dim`, the first one in the low bits; a zero after an odd number of them."""
        assert 0 <= dim < self.data.ndim, f"expected a dimension below {self.data.ndim}, got {dim}"
        data = self.data.movedim(dim, -1)
        data = torch.nn.functional.pad(data, (0, data.shape[-1] % 2))
        return (data[..., ::2] | data[..., 1::2] << 4).movedim(-1, dim).contiguous()

    @staticmethod
    def unpack_packed_tensor(packed, dim, original_shape):
        """to_packed_tensor's codes again."""
        data = packed.movedim(dim, -1)
        codes = torch.stack([data & 15, data >> 4], dim=-1).flatten(-2)[..., :original_shape[dim]]
        return codes.movedim(-1, dim).contiguous()


class MXScaleTensor(_Coded):
    """Powers of two from 2^-127 to 2^127, rounded down; 255 is a NaN, and stands for all that is no positive number."""

    def random(self, low=None, high=None):
        exponents = [0 if low is None else self._code_of(low), 254 if high is None else self._code_of(high)]
        self.data = torch.randint(exponents[0], exponents[1] + 1, self.size, dtype=torch.uint8, device=self.device)
        return self

    @classmethod
    def _code_of(cls, value):
        return int(cls._encode(torch.tensor(float(value))))

    @staticmethod
    def _encode(values):
        _, exponents = torch.frexp(values.double())
        codes = (exponents - 1 + _BIAS).clamp(0, 254)
        return torch.where((values > 0) & torch.isfinite(values), codes, _NAN).to(torch.uint8)

    def _decode(self):
        values = torch.ldexp(torch.ones((), dtype=torch.float64, device=self.data.device), self.data.double() - _BIAS).float()
        return torch.where(self.data == _NAN, torch.nan, values)
