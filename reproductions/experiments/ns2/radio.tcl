# The radio of the experiments under stock ns-2.35: uses the rate [Mbit/s], the simulator and the topography of the script
# that reads this file.

Mac/802_11 set dataRate_ ${rate}Mb
Mac/802_11 set basicRate_ 1Mb
Mac/802_11 set RTSThreshold_ 0
Phy/WirelessPhy set Pt_ 0.28183815
Phy/WirelessPhy set RXThresh_ 3.652e-10
Phy/WirelessPhy set CSThresh_ 1.559e-11
Phy/WirelessPhy set CPThresh_ 10.0

$ns node-config -adhocRouting AODV -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $topography \
    -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF
