"""The files of the kernel library that these operators launch."""
