//! Runs of ns-2.35 replayed with its own random numbers, and source routes checked after every event. They access the
//! engine's internals, so they are unit tests.

mod energy;
mod frames;
mod on_off;
mod routing;
mod source_routes;
