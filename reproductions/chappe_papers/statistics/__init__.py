"""Statistics that the judging of claims needs: pairs, quotients, ranks, the best of several."""
