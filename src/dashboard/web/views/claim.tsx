/** A claim: the chain claim → volume → attachments → node → Pods, and what `k8ts why` says of it. */

import type { ComponentChildren } from "preact";
import type { core, storage } from "#api";
import { useCollection } from "../api/collection.ts";
import { ATTACHMENTS, NODES, PODS, placeOf, STORAGE_CLASSES, VOLUMES } from "../api/resources.ts";
import type { KubeObject } from "../api/watched.ts";
import { attachmentState, claimState, modesOf, podsUsing, sourceOf, volumeState } from "../model/volume.ts";
import { Why } from "../object/why.tsx";
import { Notice, State } from "../parts/state.tsx";
import { type ObjectPlace, objectRoute } from "../route.ts";
import { type Pod, podRow } from "./pods.tsx";

export type Claim = core.PersistentVolumeClaim & KubeObject;
export type Volume = core.PersistentVolume & KubeObject;
export type Attachment = storage.VolumeAttachment & KubeObject;

export function ClaimPart({ place, claim }: { readonly place: ObjectPlace; readonly claim: Claim }) {
  const { volumeName = "", storageClassName, resources, accessModes } = claim.spec ?? {};
  const volumes = useCollection<Volume>(VOLUMES, "", { name: volumeName || NONE });
  const attachments = useCollection<Attachment>(ATTACHMENTS, "");
  const pods = useCollection<Pod>(PODS, place.namespace);
  for (const { version } of [volumes, attachments, pods]) void version.value;
  const volume = volumes.objects.get(`/${volumeName}`);
  const attached = [...attachments.objects.values()].filter(
    ({ spec }) => volumeName !== "" && spec.source?.persistentVolumeName === volumeName,
  );
  const users = podsUsing(pods.objects.values(), place.namespace, place.name);
  const nodes = [
    ...new Set([...attached.map(({ spec }) => spec.nodeName), ...users.flatMap(({ spec }) => spec?.nodeName ?? [])]),
  ];
  const state = claimState(claim);
  const size = claim.status?.capacity?.storage ?? resources?.requests?.storage ?? "";
  const wanted = resources?.requests?.storage ?? "";
  return (
    <>
      <Notice states={[volumes.state, attachments.state, pods.state]} />
      <ol class="chain" aria-label="From the claim to its Pods">
        <Link kind="Claim">
          <span>
            {size}
            {wanted !== "" && wanted !== size && ` (asked for ${wanted})`} {modesOf(accessModes)}
          </span>
          <State {...words(state)} />
        </Link>
        {storageClassName !== undefined && storageClassName !== "" && (
          <Link kind="Class">
            <a href={objectRoute(placeOf(STORAGE_CLASSES, named(storageClassName)))}>{storageClassName}</a>
          </Link>
        )}
        <Link kind="Volume">
          {volumeName === "" ? (
            <span class="dim">none yet</span>
          ) : (
            <a href={objectRoute(placeOf(VOLUMES, named(volumeName)))}>{volumeName}</a>
          )}
          {volume !== undefined && <State {...words(volumeState(volume))} />}
          {volume !== undefined && <small>{sourceOf(volume)}</small>}
        </Link>
        {attached.map((each) => (
          <Link key={each.metadata.uid} kind="Attachment">
            <a href={objectRoute(placeOf(ATTACHMENTS, each))}>{each.metadata.name}</a>
            <State {...words(attachmentState(each))} />
          </Link>
        ))}
        {nodes.map((name) => (
          <Link key={name} kind="Node">
            <a href={objectRoute(placeOf(NODES, named(name)))}>{name}</a>
          </Link>
        ))}
        {users.length === 0 ? (
          <Link kind="Pods">
            <span class="dim">no Pod uses it</span>
          </Link>
        ) : (
          users.map((pod) => (
            <Link key={pod.metadata.uid} kind="Pod">
              <a href={objectRoute(placeOf(PODS, pod))}>{pod.metadata.name}</a>
              <State tone={podRow(pod).tone} words={podRow(pod).word} />
            </Link>
          ))
        )}
      </ol>
      <Why place={place} version={`${claim.metadata.resourceVersion} ${users.length}`} />
    </>
  );
}

/** No object has this name. */
const NONE = "-";

function Link({ kind, children }: { readonly kind: string; readonly children: ComponentChildren }) {
  return (
    <li>
      <span class="link">
        <small>{kind}</small>
        {children}
      </span>
    </li>
  );
}

function named(name: string) {
  return { metadata: { name } };
}

function words({ word, tone }: { readonly word: string; readonly tone: ReturnType<typeof claimState>["tone"] }) {
  return { words: word, tone };
}
