"""For upstream's own tests of its front end: kernels compile here, and what is compared with upstream's intermediate code fails after that."""
import functools
import inspect


class IntermediateCode(AssertionError):
    """A test compiles, and would go on to compare upstream's intermediate code."""


def run_parser(kernel_fn, args=(), kwargs={}, target=None):
    """Compiles for the active device. Arguments that stand for run-time values are integers or arrays of `triton.MockTensor`."""
    return kernel_fn.warmup(*args, grid=(1, ), **kwargs)


def run_filecheck_test(kernel_fn):
    run_parser(kernel_fn)
    raise IntermediateCode(f"{kernel_fn.__name__} compiles; its intermediate code is not upstream's")


def run_filecheck(name, module_str, check_template):
    raise IntermediateCode(f"{name}: its intermediate code is not upstream's")


def filecheck_test(fn):

    @functools.wraps(fn)
    def test(*args, **kwargs):
        run_filecheck_test(fn)

    # pytest asks for the parameters of the test: it has none.
    test.__signature__ = inspect.Signature()
    return test
