//! The interfaces between owners: each file dispatches the actions that pass from one owner to another, by methods of
//! `Sim`.

mod commands;
mod external;
mod frames;
mod link;
mod middlebox;
mod point_to_point;
mod power;
mod transport;
