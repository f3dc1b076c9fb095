//! Timelines: what each room does when, in the words of its specification.

mod air;
mod aodv;
mod dcf;
mod tcp;
