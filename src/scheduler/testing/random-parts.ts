/** Parts of random clusters. */
import type { Random } from "#base";

export const ZONE = "topology.kubernetes.io/zone";
export const APPS = ["web", "db", "cache"] as const;
export const NAMESPACES = ["default", "team-a", "team-b"] as const;

export function chance(random: Random, probability: number): boolean {
  return random.next() < probability;
}

/** Between `least` and `most` of them. */
export function list<T>(random: Random, least: number, most: number, make: (i: number) => T): T[] {
  return Array.from({ length: least + random.integer(most - least + 1) }, (_, i) => make(i));
}
