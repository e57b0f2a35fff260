"""What tests of several files ask for by name."""

import pytest

from tests.browser import CHROMIUM, Browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip("no Chromium")
    with Browser(tmp_path_factory.mktemp("chromium")) as one:
        yield one
