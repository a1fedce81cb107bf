"""aspectra under attack: bad and forged files, kills, full disks, several writers, hostile requests."""
