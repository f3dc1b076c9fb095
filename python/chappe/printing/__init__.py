"""Results, studies, stories and mistakes in words; :mod:`chappe.text` makes the tables and writes the numbers."""
