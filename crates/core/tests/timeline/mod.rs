//! Timelines: actions of each layer with their times, in the words of its specification.

mod air;
mod airtime;
mod answers;
mod any_order;
mod aodv;
mod babel;
mod batman_adv;
mod dcf;
mod dsdv;
mod dsr;
mod edca;
mod eifs;
mod middlebox;
mod olsr;
mod point_to_point;
mod power;
mod rate;
mod retries;
mod router;
mod tcp;
