"""What a user can do wrong, and the words that say so."""

import operator
import re
import threading
from pathlib import Path

import numpy as np
import pytest

import lanewise as lw

X = np.arange(4.0)
SUPPORTED = "expected bool, int8 to int64, uint8 to uint64, float16, float32, float64 or complex."


@lw.vectorize
def add(x, y):
    return x + y


def raises(kind, text):
    """Expect an error with exactly this text."""
    return pytest.raises(kind, match=f"^{re.escape(text)}$")


def here(function, offset=1):
    """Return the file and line that errors name, counted from the first line of a function."""
    return f"{__file__}:{function.__code__.co_firstlineno + offset}: "


# --- arguments ---


def test_shapes_that_do_not_broadcast():
    with raises(
        lw.UsageError,
        "add: arguments disagree on the mapped shape; got (4,) (argument 0), (3,) (argument 1), "
        "expected shapes that broadcast: equal, or 1, in every dimension. "
        "Pass a plain number to share it.",
    ):
        add(X, np.ones(3))


@pytest.mark.parametrize(
    ("argument", "got", "hint"),
    [
        (np.array(["a", "b"]), "<U1", "Pass arrays of numbers."),
        (np.array([object()]), "an object (ndarray)", "Pass arrays of numbers."),
        (None, "an object (NoneType)", "Pass arrays of numbers."),
        ("text", "<U4", "Pass arrays of numbers."),
        (np.clongdouble(1j), "complex256", "Pass arrays of numbers."),
        (np.ones(2, np.longdouble), "float128", "Convert it with .astype."),
        (np.array(["2020-01-01"], "M8[D]"), "datetime64[D]", "Pass arrays of numbers."),
    ],
    ids=lambda value: str(value)[:20],
)
def test_types_that_are_not_supported(argument, got, hint):
    with raises(
        lw.UsageTypeError,
        f"add: argument 1 has an unsupported type; got {got}, {SUPPORTED} {hint}",
    ):
        add(X, argument)


def test_rows_of_unequal_length():
    with pytest.raises(lw.UsageError, match=r"^add: argument 0 is not an array; got list,"):
        add([[1, 2], [3]], X)


def test_masked_arrays():
    with raises(
        lw.UsageTypeError,
        "add: argument 0 is a masked array; got a mask, expected plain values. "
        "Pass argument.filled(value).",
    ):
        add(np.ma.array(X), X)


def test_integers_beyond_int64():
    with raises(
        lw.UsageError,
        f"add: argument 1 does not fit int64; got {2**63}, expected {-(2**63)} to {2**63 - 1}. "
        "Pass a float.",
    ):
        add(X, 2**63)


def test_integers_beyond_the_int32_arrays_beside_them():
    with raises(
        lw.UsageError,
        f"add: argument 1 does not fit int32, the type of an array beside it; got {2**31}, "
        f"expected {-(2**31)} to {2**31 - 1}. Pass np.int64(value) to widen.",
    ):
        add(np.ones(2, np.int32), 2**31)
    assert add(np.ones(2, np.int32), np.int64(2**31)).tolist() == [2**31 + 1] * 2


def test_no_arguments():
    f = lw.vectorize(lambda *xs: 1)
    with raises(
        lw.UsageError,
        "lambda: nothing to map over; got no arguments, expected at least one, or count=.",
    ):
        f()


def test_more_arguments_than_a_map_takes():
    f = lw.vectorize(lambda *xs: sum(xs))
    with raises(lw.UsageError, "map: too many arguments; got 65, expected at most 64."):
        f(*[X] * 65)


@pytest.mark.parametrize(
    ("arguments", "keywords", "got", "why"),
    [
        ((X,), {}, "1 by position", "missing a required argument: 'y'"),
        ((X, X, X), {}, "3 by position", "too many positional arguments"),
        ((X, X), {"z": 1}, "2 by position, z=", "got an unexpected keyword argument 'z'"),
    ],
    ids=["too few", "too many", "unknown"],
)
def test_wrong_numbers_of_arguments(arguments, keywords, got, why):
    with raises(
        lw.UsageTypeError,
        f"add: the arguments do not fit the function; got {got} ({why}), expected add(x, y).",
    ):
        add(*arguments, **keywords)


def test_keywords_for_a_function_that_has_no_names():
    with raises(
        lw.UsageTypeError,
        "sin: takes its arguments by position only; got x, expected none by name.",
    ):
        lw.vectorize(np.sin)(x=X)


# --- out ---


@pytest.mark.parametrize(
    ("out", "text"),
    [
        (np.empty(3), "out has another shape; got (3,), expected (4,), that of the arguments."),
        (np.empty(4, np.float32), "out has another type; got float32, expected float64."),
        ([1, 2], "wrong number of outputs; got 2, expected 1, one for each result."),
        (7, "out is not an array; got int, expected a NumPy array."),
    ],
    ids=["shape", "type", "number", "no array"],
)
def test_outputs_that_do_not_fit(out, text):
    with raises(lw.UsageError, f"add: {text}"):
        add(X, X, out=out)


def test_outputs_that_may_not_be_written():
    out = np.empty(4)
    out.flags.writeable = False
    with raises(
        lw.UsageError,
        "add: out is read-only; got an array that may not be written, expected one that may.",
    ):
        add(X, X, out=out)


def test_one_of_several_outputs_is_named():
    f = lw.vectorize(lambda x: (x, x))
    with raises(lw.UsageError, "lambda: output 1 has another type; got int64, expected float64."):
        f(X, out=(np.empty(4), np.empty(4, np.int64)))


def test_outputs_that_overlap_an_input():
    x = np.arange(4.0)
    with raises(
        lw.UsageError,
        "map: output 0 overlaps argument 0; got shared memory, expected separate arrays. "
        "Give another out, or none.",
    ):
        add(x, X, out=x)


# --- options ---


@pytest.mark.parametrize("option", ["threads", "max_steps"])
@pytest.mark.parametrize("value", [-1, 1.5, "2", True, 2**63])
def test_numbers_that_are_not_whole(option, value):
    with pytest.raises(
        lw.UsageError,
        match=f"^vectorize: {option} is not a whole number in range; got {value!r}, expected 0 to ",
    ):
        lw.vectorize(add, **{option: value})


def test_choices_that_do_not_exist():
    with raises(
        lw.UsageError,
        "vectorize: no such compile; got 'later', expected one of 'auto', 'now', 'never'.",
    ):
        lw.vectorize(add, compile="later")
    with raises(
        lw.UsageError, "vectorize: no such math; got 'loose', expected one of 'strict', 'fast'."
    ):
        lw.vectorize(add, math="loose")
    with raises(
        lw.UsageError,
        "vectorize: no such schedule; got 'rows', expected one of None, 'packets', 'refill'.",
    ):
        lw.vectorize(add, schedule="rows")


def test_refill_without_a_loop():
    f = lw.vectorize(lambda x: x + 1, schedule="refill", compile="now")
    with pytest.raises(lw.UsageError, match=r"^plan: refill was asked for; got a program"):
        f(X)


def test_numbers_of_threads():
    with raises(
        lw.UsageError,
        "set_num_threads: not a number of threads; got -1, expected 0 (the default) or more.",
    ):
        lw.set_num_threads(-1)


def test_something_that_is_no_function():
    with raises(lw.UsageTypeError, "vectorize: not a function; got int, expected a callable."):
        lw.vectorize(7)


def test_parameters_that_go_by_keyword_only():
    def f(x, *, n):
        return x

    with raises(
        lw.UsageTypeError,
        f"{here(f, 0)}vectorize: a parameter goes by keyword only; got n, expected parameters that "
        "may be given by position.",
    ):
        lw.vectorize(f)


def test_a_parameter_called_out():
    def f(x, out):
        return x

    with raises(
        lw.UsageTypeError,
        f"{here(f, 0)}vectorize: a parameter is called out; got (x, out), expected another name, "
        "as out= says where the results go.",
    ):
        lw.vectorize(f)


# --- inside the function ---

BRANCHES = "expected lw.while_loop(cond, body, state) or lw.select(condition, a, b)."


def fails(function, kind, text, *arguments, offset=1):
    """Expect that recording the function fails at its second line."""
    with raises(kind, here(function, offset) + text):
        lw.vectorize(function)(*(arguments or (X,)))


def from_text(text):
    """Make a function whose source cannot be read."""
    return eval(text)


@pytest.mark.parametrize(
    "text",
    ["x if x > 0 else -x", "x > 0 and x < 1", "not x", "0 < x < 1", "x in (1, 2)", "max(x, 1)"],
)
def test_a_condition_on_an_element_without_source(text):
    with raises(
        TypeError,
        "<string>:1: bool: an element has no value while its function is recorded; got a condition "
        f"on it (if, while, and, or, not), {BRANCHES} This function could not be rewritten: there "
        "is no file <string>. Put it into a file.",
    ):
        lw.vectorize(from_text(f"lambda x: {text}"))(X)


def test_an_element_as_a_range():
    def f(x):
        return sum(range(x))

    fails(
        f,
        TypeError,
        "range: an element is among its bounds; got a use outside of a for statement, expected "
        "for i in range(...).",
        np.arange(4),
    )


@pytest.mark.parametrize(
    ("convert", "text"),
    [
        (operator.index, f"int: {{}}; got a use as a Python integer (range, an index), {BRANCHES}"),
        ("%f".__mod__, "float: {}; got a conversion, expected x.astype(np.float64)."),
        (
            np.asfortranarray,
            "array: {}; got a conversion to a NumPy array, expected operations on single elements.",
        ),
    ],
    ids=["index", "float", "array"],
)
def test_an_element_as_a_python_number(convert, text):
    def f(x):
        return convert(x)

    fails(f, TypeError, text.format("an element has no value while its function is recorded"))


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: np.i0(x), "np.i0"),
        (lambda x: np.linalg.eigvals(x), "np.linalg.eigvals"),
        (lambda x: np.sin(x, dtype=np.float64), "np.sin with dtype="),
        (lambda x: np.where(x > 0), "np.where without both branches"),
        (lambda x: np.astype(x, np.int8, copy=False), "np.astype with copy="),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_numpy_functions_that_are_not_recorded(call, name):
    fails(
        call,
        TypeError,
        f"{name}: not supported on elements; got a call inside a vectorized function, expected a "
        "function that lanewise records. Write it with operators and lw.* functions.",
        offset=0,
    )


@pytest.mark.parametrize(
    ("operand", "got"),
    [
        (np.clongdouble(1j), "complex256"),
        (np.longdouble(1), "float128"),
    ],
    ids=str,
)
def test_operands_that_cannot_be_recorded(operand, got):
    def f(x):
        return x + operand

    fails(
        f,
        TypeError,
        f"element: met a value that cannot be recorded; got {got}, expected an element, a Python "
        "number, or a NumPy scalar of bool, int8 to int64, uint8 to uint64, float16, float32, "
        "float64 or complex. Pass arrays as arguments.",
    )


def test_arrays_of_other_types_that_are_made_inside():
    def f(x):
        return x + np.array(["a", "b"])

    with pytest.raises(TypeError, match="tensor: unsupported type; got <U1, expected bool, int8"):
        lw.vectorize(f)(X)


def test_operands_that_are_no_numbers():
    with pytest.raises(TypeError, match="unsupported operand type"):
        lw.vectorize(lambda x: x + "text")(X)


def test_powers_of_integers_that_are_not_multiplications():
    def f(x):
        return x**-1

    fails(
        f,
        TypeError,
        "power: not supported for integers with this exponent; expected a plain number that is not "
        "negative. Convert the base to a float first.",
        np.ones(2, np.int32),
    )


@pytest.mark.parametrize(
    ("operation", "text"),
    [
        (
            lambda x: x & 1,
            "bitwise_and: not defined for these types; got (float64, int64), expected bools or "
            "integers. Compare floats first.",
        ),
        (
            lambda x: x << 1,
            "left_shift: not defined for these types; got (float64, int64), expected integers. "
            "Convert with .astype first.",
        ),
        (
            lambda x: -(x > 1),
            "negative: not defined for these types; got (bool), expected numbers. "
            "Use ^ or ~ for bools, or convert with .astype.",
        ),
    ],
    ids=["&", "<<", "-"],
)
def test_operations_that_a_type_does_not_have(operation, text):
    fails(operation, TypeError, text, offset=0)


def test_literals_that_do_not_fit():
    def f(x):
        return x + 2**31

    fails(
        f,
        lw.UsageError,
        f"element: a literal does not fit its type; got {2**31}, expected {-(2**31)} to "
        f"{2**31 - 1} (int32). Convert the element it meets with .astype.",
        np.ones(2, np.int32),
    )


def test_conversions_to_types_there_are_not():
    def f(x):
        return x.astype(np.longdouble)

    fails(f, TypeError, f"astype: unsupported type; got float128, {SUPPORTED}")


@pytest.mark.parametrize(
    ("returned", "got", "hint"),
    [
        (None, "None", " Is a return missing?"),
        ("text", "str", ""),
        ((), "an empty tuple", ""),
        ((1, None), "None", ""),
        ({"a": "text"}, "str", ""),
    ],
    ids=str,
)
def test_functions_that_return_no_elements(returned, got, hint):
    def f(x):
        return returned

    fails(
        f,
        lw.UsageTypeError,
        f"f: the function does not return elements; got {got}, expected an element, a number or a "
        f"tuple of them.{hint}",
        offset=0,
    )


def test_an_element_used_after_its_function_was_recorded():
    kept = []
    lw.vectorize(lambda x: kept.append(x) or x)(X)
    with pytest.raises(lw.UsageError) as error:
        kept[0] + 1
    assert str(error.value).endswith(
        "element: used after its function was recorded; got a symbolic value without a program, "
        "expected a number. Return it from the vectorized function instead of keeping it."
    )
    with pytest.raises(lw.UsageError, match="used after its function was recorded"):
        1 + kept[0]
    with pytest.raises(lw.UsageError, match="used after its function was recorded"):
        lw.vectorize(lambda x: x + kept[0])(X)
    with pytest.raises(lw.UsageError, match="used after its function was recorded"):
        lw.vectorize(lambda x: kept[0])(X)


def test_an_element_used_outside_of_its_loop():
    kept = []

    def f(x):
        lw.while_loop(lambda v: v < 3, lambda v: kept.append(v) or v + 1, x)
        return x + kept[-1]

    fails(
        f,
        lw.UsageError,
        "element: used outside of the loop or branch it was made in; got a value that not every "
        "element has, expected one of the present scope. Assign it to a variable, or return it.",
        offset=2,
    )


def test_an_element_of_a_function_that_is_recorded_on_another_thread():
    errors = []

    def other(x):
        try:
            lw.vectorize(lambda y: y + x)(np.ones(3))
        except lw.UsageError as error:
            errors.append(str(error))

    def f(x):
        thread = threading.Thread(target=other, args=(x,))
        thread.start()
        thread.join()
        return x

    lw.vectorize(f)(X)
    assert errors[0] == here(other, 2) + (
        "element: belongs to another function that is being recorded; got elements of two, "
        "expected one. Pass it as an argument."
    )


def test_a_vectorized_function_with_outputs_inside_another():
    def f(x):
        return x + add(X, X, out=X)

    fails(
        f,
        TypeError,
        "add: out= inside a vectorized function; got an array for the results, expected none. "
        "Assign the result.",
    )


# --- loops ---


@pytest.mark.parametrize(
    ("state", "returned", "got", "expected"),
    [
        (0.0, None, "None", "one value"),
        (0.0, (1.0, 2.0), "2 values", "one value"),
        ((0.0, 0.0), None, "NoneType", "a tuple of 2"),
        ((0.0, 0.0), (1.0,), "1 values", "a tuple of 2"),
        ((0.0, 0.0), "text", "str", "a tuple of 2"),
    ],
    ids=str,
)
def test_bodies_that_do_not_return_the_state(state, returned, got, expected):
    def f(x):
        return lw.while_loop(lambda *state: x > 0, lambda *state: returned, state)

    fails(
        f,
        lw.UsageError,
        f"while_loop: body does not return the next state; got {got}, expected {expected}, as in "
        "the state given. Return every part of the state from body.",
    )


def test_states_that_are_not_numbers():
    def f(x):
        return lw.while_loop(lambda a, b: a > 0, lambda a, b: (a, b), (x, "text"))

    fails(
        f,
        TypeError,
        "while_loop: state is not made of numbers; got str (part 1), expected elements, "
        "tensors and numbers.",
    )


def test_next_states_that_are_not_numbers():
    def f(x):
        return lw.while_loop(lambda a: a > 0, lambda a: "text", x)

    fails(
        f,
        TypeError,
        "while_loop: the state from body is not made of numbers; got str (part 0), expected "
        "elements, tensors and numbers.",
    )


def test_next_states_of_another_shape():
    def f(x):
        row = np.zeros(2) + x
        return lw.while_loop(lambda a, b: a > 0, lambda a, b: (a - 1, b.sum()), (x, row))

    fails(
        f,
        lw.UsageError,
        "while_loop: the state from body is made otherwise; got a number (part 1), expected a "
        "tensor of shape (2,), as in the state given. Tensors keep their shape from step to step.",
        offset=2,
    )


# --- failures of elements ---


@pytest.mark.parametrize("compile", ["never", "now"])
def test_the_lowest_element_beyond_the_step_limit_is_named(compile):
    def f(x):
        return lw.while_loop(lambda v: v > 0, lambda v: v - 1, x)

    x = np.zeros((100, 10))
    x[3, 7] = x[50, 0] = 1000
    limited = lw.vectorize(f, max_steps=999, compile=compile)
    with pytest.raises(lw.ElementError) as error:
        limited(x)
    assert error.value.element == 37
    assert str(error.value) == (
        "map: element 37 took more loop steps than allowed "
        f"({here(f).removesuffix(': ')}); got a limit of 999 steps. "
        "Raise max_steps, or check that the loop ends."
    )
    assert lw.vectorize(f, max_steps=1000, compile=compile)(x).sum() == 0
    assert isinstance(error.value, RuntimeError)


@pytest.mark.parametrize("compile", ["never", "now"])
def test_the_element_that_divides_by_zero_is_named(compile):
    def f(x, y):
        return x // y

    divide = lw.vectorize(f, compile=compile)
    with pytest.raises(
        lw.ElementError, match=r"^map: element 2 divides an integer by zero"
    ) as error:
        divide(np.array([7, 7, 7]), np.array([1, 2, 0]))
    assert error.value.element == 2
    assert here(f).removesuffix(": ") in str(error.value)
    assert "got 7 / 0" in str(error.value)
    assert divide(np.array([7, 7]), np.array([1, 2])).tolist() == [7, 3]


def test_a_division_by_zero_that_is_not_taken_by_the_loop_does_no_harm():
    f = lw.vectorize(lambda n: lw.while_loop(lambda v: v > 0, lambda v: (8 // v) - 8, n))
    assert f(np.array([0, 1, -3])).tolist() == [0, 0, -3]


# --- the users' own errors ---


def test_errors_of_the_function_itself_pass_through_with_their_traceback():
    def f(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine") as error:
        lw.vectorize(f)(X)
    assert error.traceback[-1].path == Path(__file__)
    assert error.traceback[-1].lineno == f.__code__.co_firstlineno


def test_error_classes_are_those_that_python_users_expect():
    assert issubclass(lw.UsageError, ValueError)
    assert issubclass(lw.UsageTypeError, (lw.UsageError, TypeError))
    assert issubclass(lw.ElementError, RuntimeError)
    assert issubclass(lw.ResourceError, MemoryError)
    assert issubclass(lw.InternalError, RuntimeError)
