//! Runs of ns-2.35 replayed with its own random numbers, and source routes looked at after every event. They look inside
//! the engine, so they are unit tests.

mod energy;
mod frames;
mod on_off;
mod routing;
mod source_routes;
