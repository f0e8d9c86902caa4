"""Linear models with feedback: the search for them, their classes, and what is said of them."""

from qwo.feedback.result import Feedback, Knot

__all__ = ["Feedback", "Knot"]
