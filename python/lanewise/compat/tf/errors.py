"""``tf.errors``: lanewise's own errors under the names that programs catch."""

from ...errors import Cancelled as CancelledError
from ...errors import InternalError, InvalidArgumentError, OpError
from ...errors import ResourceError as ResourceExhaustedError
from ...errors import Timeout as DeadlineExceededError


class NotFoundError(OpError):
    """Something that was asked for is not there."""


class AlreadyExistsError(OpError):
    """Something that was to be made is there."""


class OutOfRangeError(OpError):
    """There is nothing more to read."""


class NoSuchPlaceError(OutOfRangeError, InvalidArgumentError):
    """An index is outside: TensorFlow says the one eagerly, and the other in graphs."""


class FailedPreconditionError(OpError):
    """Something was not done before."""


class UnimplementedError(OpError, NotImplementedError):
    """Something is not supported."""


class AbortedError(OpError):
    """Something was given up."""


class UnavailableError(OpError):
    """Something cannot be reached."""


class PermissionDeniedError(OpError):
    """Something is not allowed."""


class UnknownError(OpError):
    """Nobody knows why."""


NAMES = {
    "errors.CancelledError": CancelledError,
    "errors.DeadlineExceededError": DeadlineExceededError,
    "errors.ResourceExhaustedError": ResourceExhaustedError,
    **{
        f"errors.{kind.__name__}": kind
        for kind in (
            *(OpError, InvalidArgumentError, InternalError, NotFoundError, AlreadyExistsError),
            *(OutOfRangeError, FailedPreconditionError, UnimplementedError, AbortedError),
            *(UnavailableError, PermissionDeniedError, UnknownError),
        )
    },
}
