/**
 * Keeps the zone up to date: the records of a Service are replaced when it, or one of its slices, changes.
 *
 *     Services, EndpointSlices, Namespaces --► changed Services ──► serviceRecords ──► Zone
 *
 * While the API server is away, the zone keeps its last state.
 */
import { type core, kinds } from "#api";
import { type Informers, objectKey, revisionOf } from "#client";
import { serviceKeyOf } from "../proxy/endpoints.ts";
import { type DnsRecord, serviceRecords } from "./records.ts";
import type { Zone } from "./zone.ts";

/** Called after the records of a Service were replaced, with the revision that caused it. */
export type OnZoneChange = (
  key: string,
  old: readonly DnsRecord[],
  now: readonly DnsRecord[],
  revision: number,
) => void;

/** Returns once all existing Services have their records. */
export async function followServices(
  zone: Zone,
  informers: Informers,
  onChange: OnZoneChange = () => {},
): Promise<void> {
  const services = informers.of(kinds.Service);
  const slices = informers.of(kinds.EndpointSlice);
  const namespaces = informers.of(kinds.Namespace);
  const byService = slices.cache.index("service", (slice) => {
    const key = serviceKeyOf(slice);
    return key === undefined ? [] : [key];
  });
  await Promise.all([services.synced, slices.synced, namespaces.synced]);

  const renew = (key: string, revision?: number) => {
    const service = services.cache.get(key);
    const records = service === undefined ? [] : serviceRecords(service, byService(key), zone.name);
    const before = zone.set(key, records);
    if (revision !== undefined) onChange(key, before, records, revision);
  };
  services.onChange(({ object }) => renew(objectKey(object), revisionOf(object)));
  slices.onChange(({ object, old }) => {
    const keys = [object, ...(old === undefined ? [] : [old])].map(serviceKeyOf);
    for (const key of new Set(keys))
      if (key !== undefined && isHeadless(services.cache.get(key))) renew(key, revisionOf(object));
  });
  namespaces.onChange(() => zone.setNamespaces(namesOf(namespaces.cache.list())));
  for (const service of services.cache.list()) renew(objectKey(service));
  zone.setNamespaces(namesOf(namespaces.cache.list()));
}

/** Only headless Services have records of their endpoints. */
function isHeadless(service: core.Service | undefined): boolean {
  return service?.spec?.clusterIP === "None";
}

function namesOf(namespaces: Iterable<core.Namespace>): string[] {
  return [...namespaces].flatMap(({ metadata }) => (metadata.name === undefined ? [] : [metadata.name]));
}
