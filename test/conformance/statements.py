"""Statements of a page, each with the check that it holds."""


class Statements(list):
    def __call__(self, words):
        def take(check):
            self.append((words, check))
            return check

        return take


def judge(statements, daemon):
    """Prints each of them and whether it holds; how many do not."""
    failed = 0
    for words, check in statements:
        try:
            check(daemon)
            print(f"ok    {words}")
        except Exception as error:
            failed += 1
            print(f"FAIL  {words}: {type(error).__name__}: {error}")
    print(f"{len(statements) - failed} of {len(statements)} hold")
    return failed
