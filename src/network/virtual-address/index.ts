/** The virtual address of a cluster's API servers. */
export { linkOf } from "./link.ts";
export { runVirtualAddress, VIRTUAL_ADDRESS_LEASE, type VirtualAddressOptions } from "./run-virtual-address.ts";
