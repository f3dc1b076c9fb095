"""Claims of a paper, their verdicts, and advice that follows from them."""
