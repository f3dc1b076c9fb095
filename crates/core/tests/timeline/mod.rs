//! Timelines: what each room does when, in the words of its specification.

mod air;
mod air_time;
mod aodv;
mod dcf;
mod middlebox;
mod tcp;
mod wire;
