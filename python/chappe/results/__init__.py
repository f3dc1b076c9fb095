"""Results of a run: tables, measures, budgets, silent flows, a run that is driven."""
