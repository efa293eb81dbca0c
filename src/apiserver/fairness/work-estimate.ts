/**
 * How wide a request is, in seats: one for most, more for those that go through many objects or that many watches hear of.
 *
 * 1. A list takes a seat for every hundred objects that it looks at, and so does a watch that begins with what is there.
 * 2. A write that ten watches or more hear of keeps seats after it is answered, while its events go out: a seat for each ten, for 5 ms. It never needs
 *    more seats than a request may have; what that cuts off in width it gets in time.
 */
import type { Histogram } from "#base";
import type { RequestInfo } from "../http/request-info.ts";
import { isTrue } from "../http/request-info.ts";
import type { Resources } from "../rest/resources.ts";
import type { WatchCounts } from "./watch-counts.ts";

export interface Work {
  /** While it is executed. */
  readonly seats: number;
  /** After that, for so long. */
  readonly finalSeats: number;
  readonly finalMs: number;
}

export const ONE_SEAT: Work = { seats: 1, finalSeats: 0, finalMs: 0 };

const OBJECTS_PER_SEAT = 100;
const WATCHES_PER_SEAT = 10;
const EVENT_MS = 5;
/** However many seats its level has. */
const MAX_SEATS = 10;

export class WorkEstimator {
  readonly #resources: Resources;
  readonly #watches: WatchCounts;

  constructor(resources: Resources, watches: WatchCounts) {
    this.#resources = resources;
    this.#watches = watches;
  }

  /** `levelSeats`: what its level allows a request at most; 0 for no opinion. `heard`: is told how many watches hear of it, if it is a write. */
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
    // Who selects looks at all of them to find a page's worth.
    const selects = query.has("labelSelector") || query.has("fieldSelector");
    const seen = limit > 0 && !selects ? Math.min(limit, stored) : stored;
    if (seen <= OBJECTS_PER_SEAT) return ONE_SEAT;
    return { ...ONE_SEAT, seats: Math.min(cap, Math.ceil(seen / OBJECTS_PER_SEAT)) };
  }

  #write(info: RequestInfo, cap: number, heard: Pick<Histogram, "observe">): Work {
    // No object changes by it.
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
