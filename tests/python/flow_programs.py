"""Random Python functions with every kind of control flow, of which each call ends."""

import random

NAMES = ("a", "b", "c")


class Programs:
    """Writes functions of two integers; the same seed gives the same one."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._lines: list[str] = []
        self._count = 0
        self._has_helper = False

    def function(self) -> str:
        """Return the source of a function f(x, y)."""
        self._lines = []
        self._write("g", 0, 2, "return a - b + c")
        self._has_helper = True
        self._write("f", 0, 3, "return a * 10007 + b * 101 + c + d + k")
        return "\n".join(self._lines) + "\n"

    def _write(self, name: str, depth: int, budget: int, last: str) -> None:
        self._line(depth, f"def {name}(x, y):")
        self._line(depth + 1, "a, b, c, d, k = x, y, 1, 0, 0")
        if self._has_helper:
            self._line(depth + 1, "def count(n):")
            self._line(depth + 2, "nonlocal k")
            self._line(depth + 2, "if n > 2:")
            self._line(depth + 3, "k += 1")
            self._line(depth + 3, "return n")
            self._line(depth + 2, "return n - 1")
        self._block(depth + 1, budget, in_loop=False)
        self._line(depth + 1, last)

    def _line(self, depth: int, text: str) -> None:
        self._lines.append("    " * depth + text)

    def _pick(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _term(self) -> str:
        name = self._pick(*NAMES, "x", "y", *map(str, range(-3, 8)))
        return f"({name})" if name.startswith("-") else name

    def _value(self) -> str:
        a, b = self._term(), self._term()
        divisor = self._pick("3", "5", "7")
        return self._pick(
            f"{a} + {b}",
            f"{a} - {b}",
            f"{a} * {b} % 97",
            f"{a} // {divisor}",
            f"{a} % {divisor}",
            f"({a} if {self._test()} else {b})",
            f"max({a}, {b})",
            f"abs({a})",
            f"({a} and {b})",
            f"({a} or {b})",
            f"int({self._test()})",
        )

    def _test(self) -> str:
        a, b, c = self._term(), self._term(), self._term()
        sign = self._pick("<", "<=", "==", "!=", ">", ">=")
        return self._pick(
            f"{a} {sign} {b}",
            f"{a} % 3 == {self._pick('0', '1', '2')}",
            f"({a} {sign} {b} and {b} < {c})",
            f"({a} {sign} {b} or {b} < {c})",
            f"not {a} {sign} {b}",
            f"{a} < {b} <= {c}",
            f"{a} in (1, {b}, 5)",
            f"({a} != 0 and 60 // ({a} or 1) > {b})",
            self._pick("True", "False", "c"),
        )

    def _block(self, depth: int, budget: int, in_loop: bool) -> None:
        for _ in range(self._random.randint(1, 3)):
            self._statement(depth, budget, in_loop)

    def _statement(self, depth: int, budget: int, in_loop: bool) -> None:
        kinds = ["assign", "assign", "augment", "swap", "float"]
        if self._has_helper:
            kinds += ["call"]
        if budget > 0:
            kinds += ["if", "if", "if", "for", "while", "unrolled", "list"]
        if in_loop:
            kinds += ["break", "continue"]
        if depth > 1:
            kinds += ["return"]
        kind = self._pick(*kinds)
        getattr(self, f"_{kind}")(depth, budget, in_loop)

    def _assign(self, depth: int, *_: object) -> None:
        self._line(depth, f"{self._pick(*NAMES)} = ({self._value()}) % 1000")

    def _augment(self, depth: int, *_: object) -> None:
        name = self._pick(*NAMES)
        self._line(depth, f"{name} {self._pick('+=', '-=')} {self._term()}")
        self._line(depth, f"{name} %= 10007")

    def _float(self, depth: int, *_: object) -> None:
        self._line(depth, f"d = {self._pick('d * 0.5 + 0.25', 'd + a % 5', '1 - d', 'b % 3')}")
        self._line(depth, f"c = c if d {self._pick('<', '>')} {self._term()} else c + 1")

    def _call(self, depth: int, *_: object) -> None:
        call = self._pick(f"g({self._term()} % 20, {self._term()})", f"count({self._term()})")
        self._line(depth, f"{self._pick(*NAMES)} = {call} % 1000")

    def _swap(self, depth: int, *_: object) -> None:
        self._line(depth, "a, b, c = b % 500, c, a")

    def _break(self, depth: int, *_: object) -> None:
        self._line(depth, f"if {self._test()}:")
        self._line(depth + 1, "break")

    def _continue(self, depth: int, *_: object) -> None:
        self._line(depth, f"if {self._test()}:")
        self._line(depth + 1, "continue")

    def _return(self, depth: int, *_: object) -> None:
        self._line(depth, f"if {self._test()}:")
        self._line(depth + 1, f"return {self._value()}")

    def _if(self, depth: int, budget: int, in_loop: bool) -> None:
        self._line(depth, f"if {self._test()}:")
        self._block(depth + 1, budget - 1, in_loop)
        for _ in range(self._random.randint(0, 1)):
            self._line(depth, f"elif {self._test()}:")
            self._block(depth + 1, budget - 1, in_loop)
        if self._random.random() < 0.5:
            self._line(depth, "else:")
            self._block(depth + 1, budget - 1, in_loop)

    def _loop(self, depth: int, budget: int, in_loop: bool, head: str, first: str = "") -> None:
        self._line(depth, head)
        if first:
            self._line(depth + 1, first)
        self._block(depth + 1, budget - 1, in_loop=True)
        if self._random.random() < 0.3:
            self._line(depth, "else:")
            self._block(depth + 1, budget - 1, in_loop)

    def _name(self) -> str:
        self._count += 1
        return f"i{self._count}"

    def _for(self, depth: int, budget: int, in_loop: bool) -> None:
        bound = self._pick("abs(a) % 6", "abs(x) % 9", "10", "3", "1, 12, 4", "7, abs(b) % 5, -2")
        name = self._name()
        self._loop(
            depth, budget, in_loop, f"for {name} in range({bound}):", f"c = c % 1000 + {name}"
        )

    def _unrolled(self, depth: int, budget: int, in_loop: bool) -> None:
        name = self._name()
        items = self._pick("(1, 2, 5)", "[x, 3]", "(y, x, 1, 0)")
        self._loop(depth, budget, in_loop, f"for {name} in {items}:", f"b = b % 900 + {name}")

    def _while(self, depth: int, budget: int, in_loop: bool) -> None:
        name = self._name()
        self._line(depth, f"{name} = 0")
        test = self._pick(f"{name} < 7", f"{name} < 5 and {self._test()}", f"{name} < abs(a) % 8")
        self._loop(depth, budget, in_loop, f"while {test}:", f"{name} += 1")

    def _list(self, depth: int, budget: int, in_loop: bool) -> None:
        name = self._name()
        self._line(depth, f"{name} = [a, b % 50, 3]")
        self._line(depth, f"if {self._test()}:")
        self._line(
            depth + 1, f"{name}[{self._pick('0', '1', 'abs(y) % 3', '-1')}] = {self._term()}"
        )
        self._line(depth, f"c = {name}[{self._pick('0', '2', 'abs(x) % 3')}] % 1000")
