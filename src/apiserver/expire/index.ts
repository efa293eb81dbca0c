/** The whole public surface of expire. */
export { DEFAULT_EVENT_TTL_MS, type ExpireOptions, expireEvents } from "./expire-events.ts";
