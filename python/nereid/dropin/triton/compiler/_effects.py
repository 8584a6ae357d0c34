"""What a kernel reads and writes, in the form in which torch.compile asks: it walks upstream's intermediate code from stores back to parameters.
Here the compiler knows, and the code is one function with a load of each array and a store to each that is written."""
import itertools
import types


def _operation(name, block, operands=(), results=(), regions=(), symbol=None):
    value = lambda number: types.SimpleNamespace(id=lambda: number)  # noqa: E731
    return types.SimpleNamespace(
        get_name=lambda: name, get_block=lambda: block, get_num_operands=lambda: len(operands), get_operand=lambda i: value(operands[i]),
        get_num_results=lambda: len(results), get_result=lambda i: value(results[i]), get_num_regions=lambda: len(regions),
        get_region=lambda i: regions[i], get_str_attr=lambda _name: symbol, get_bool_attr=lambda _name: False, get_flat_symbol_ref_attr=lambda _name: None)


class Effects:
    """`parameters`: names in order, of what a launch passes; `arrays` and `written` are among them."""

    def __init__(self, name, parameters, arrays, written):
        self.name, self.parameters, self.arrays, self.written = name, parameters, arrays, written

    def verify(self):
        return True

    def walk(self, callback):
        numbers = itertools.count()
        region = types.SimpleNamespace(id=lambda: -1)
        arguments = [next(numbers) for _ in self.parameters]
        block = types.SimpleNamespace(id=lambda: -2, get_num_arguments=lambda: len(arguments), get_parent=lambda: region,
                                      get_argument=lambda i: types.SimpleNamespace(id=lambda: arguments[i]))
        loaded = next(numbers)
        callback(_operation("arith.constant", block, results=[loaded]))
        for parameter, number in zip(self.parameters, arguments):
            if parameter in self.arrays:
                callback(_operation("tt.load", block, [number], [next(numbers)]))
            if parameter in self.written:
                callback(_operation("tt.store", block, [number, loaded]))
        callback(_operation("tt.func", None, regions=[region], symbol=self.name))

    def __str__(self):
        return f"{self.name}({', '.join(self.parameters)}): writes {', '.join(sorted(self.written)) or 'nothing'}"
