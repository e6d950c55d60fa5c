"""The timing self-test: what a machine does with a study before people take part in it.

`measuring`, `disk`, `keyboard_repeat` and `injecting` measure through the apparatus that sessions
use; `checks` judges, `methods` words it, `record` keeps it with the data set; `self_test` puts
them together.
"""
