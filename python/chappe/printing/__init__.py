"""Results, studies, stories and mistakes as text: what commands, reports and objects print."""
