/**
 * The width of a request in seats: one for most, more for requests that read many objects or that concern many watches.
 *
 * 1. A list takes a seat for every hundred objects that it reads, and so does a watch that starts with the present
 *    state.
 * 2. A write that concerns ten watches or more keeps seats after it is answered, while its events are sent: a seat for
 *    each ten watches, for 5 ms. If a request may not have so many seats, it keeps fewer for longer.
 */
import type { Histogram } from "#base";
import type { RequestInfo } from "../http/request-info.ts";
import { isTrue } from "../http/request-info.ts";
import type { Resources } from "../rest/resources.ts";
import type { WatchCounts } from "./watch-counts.ts";

export interface Work {
  /** During the execution. */
  readonly seats: number;
  /** After the execution, for `finalMs`. */
  readonly finalSeats: number;
  readonly finalMs: number;
}

export const ONE_SEAT: Work = { seats: 1, finalSeats: 0, finalMs: 0 };

const OBJECTS_PER_SEAT = 100;
const WATCHES_PER_SEAT = 10;
const EVENT_MS = 5;
/** For any level. */
const MAX_SEATS = 10;

export class WorkEstimator {
  readonly #resources: Resources;
  readonly #watches: WatchCounts;

  constructor(resources: Resources, watches: WatchCounts) {
    this.#resources = resources;
    this.#watches = watches;
  }

  /**
   * `levelSeats`: the most that the level allows a request; 0: no limit. `heard`: observes how many watches a write
   * concerns.
   */
  estimate(info: RequestInfo, query: URLSearchParams, levelSeats: number, heard: Pick<Histogram, "observe">): Work {
    switch (info.verb) {
      case "list":
      case "watch":
        return this.#list(info, query, seatCap(levelSeats));
      case "create":
      case "update":
      case "patch":
      case "delete":
        return this.#write(info, seatCap(levelSeats), heard);
      default:
        return ONE_SEAT;
    }
  }

  #list(info: RequestInfo, query: URLSearchParams, cap: number): Work {
    if (info.name !== "" || (info.verb === "watch" && !showsState(query))) return ONE_SEAT;
    const stored = this.#resources.find(info.apiGroup, info.apiVersion, info.resource)?.cache.size ?? 0;
    const limit = Number(query.get("limit") ?? 0);
    // With a selector all objects are read to find a page of them.
    const selects = query.has("labelSelector") || query.has("fieldSelector");
    const seen = limit > 0 && !selects ? Math.min(limit, stored) : stored;
    if (seen <= OBJECTS_PER_SEAT) return ONE_SEAT;
    return { ...ONE_SEAT, seats: Math.min(cap, Math.ceil(seen / OBJECTS_PER_SEAT)) };
  }

  #write(info: RequestInfo, cap: number, heard: Pick<Histogram, "observe">): Work {
    // It changes no object.
    if (info.resource === "serviceaccounts" && info.subresource === "token") return ONE_SEAT;
    const watches = this.#watches.concerned(info);
    heard.observe(watches);
    if (watches < WATCHES_PER_SEAT) return ONE_SEAT;
    const wanted = Math.ceil(watches / WATCHES_PER_SEAT);
    const finalSeats = Math.min(cap, wanted);
    return { seats: 1, finalSeats, finalMs: (wanted * EVENT_MS) / finalSeats };
  }
}

function seatCap(levelSeats: number): number {
  return levelSeats === 0 ? MAX_SEATS : Math.min(levelSeats, MAX_SEATS);
}

function showsState(query: URLSearchParams): boolean {
  const version = query.get("resourceVersion") ?? "";
  return version === "" || version === "0" || isTrue(query.get("sendInitialEvents"));
}
