"""Options of a program that was started without any: each has its default."""


class Namespace:

    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, value)


class ArgumentParser:

    def __init__(self, *args, **options):
        self.defaults = {}
        self.required = []

    def add_argument(self, *names, action="store", default=None, dest=None, required=False, nargs=None, **options):
        long = [name for name in names if name.startswith("--")]
        name = dest or (long or list(names))[0].lstrip("-").replace("-", "_")
        if default is None and action in ("store_true", "store_false"):
            default = action == "store_false"
        is_positional = not names[0].startswith("-")
        if required or (is_positional and nargs not in ("?", "*")):
            self.required.append(names[0])
        if action not in ("help", "version"):
            self.defaults[name] = default

    def add_argument_group(self, *args, **options):
        return self

    def set_defaults(self, **values):
        self.defaults.update(values)

    def parse_known_args(self, args=None, namespace=None):
        if len(self.required) > 0:
            raise SystemExit("the following arguments are required: " + ", ".join(self.required))
        return Namespace(**self.defaults), []

    def parse_args(self, args=None, namespace=None):
        return self.parse_known_args(args)[0]
