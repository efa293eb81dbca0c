/**
 * The csi-snapshotter sidecar: makes, checks and deletes the snapshots of one driver's VolumeSnapshotContents.
 *
 *     contents --► decide ──► driver: CreateSnapshot, GetSnapshot, ListSnapshots, DeleteSnapshot ──► status ══► content
 *                    ▲                                                     │
 *                    └──────── again: 1 s, 2 s, 4 s … 5 min ◄──────────────┘ not ready, or failed
 */
import { whenAborted } from "#base";
import { type Controller, changesOf, defineController } from "#controllers";
import { snapshotKinds } from "../objects/kinds.ts";
import { ContentWorker } from "./content-worker.ts";
import { decide } from "./decide.ts";
import type { SnapshotterOptions } from "./options.ts";
import { Retries } from "./retries.ts";

const { VolumeSnapshotContent: Content } = snapshotKinds;

export function contentSnapshotter(options: SnapshotterOptions): Controller {
  const { controllers, retries: limits = {} } = options;
  const { driverName } = controllers;
  return defineController({
    name: "csi-snapshotter-content",
    account: "csi-snapshotter",
    reportsAs: `csi-snapshotter/${driverName}`,
    concurrency: 10,
    bind(context) {
      const contents = context.cache(Content);
      const retries = new Retries(limits, context.random);
      const worker = new ContentWorker(options, context);
      return {
        sources: [changesOf(Content, ({ object }) => object.spec.driver === driverName)],
        async reconcile(key, now, signal) {
          const content = contents.get(key);
          if (content === undefined || !worker.isOurs(content)) {
            retries.forget(key);
            return undefined;
          }
          const action = decide(content);
          // A mark begins a creation: it waits for the next attempt of it.
          const attempt = action.kind === "mark" ? "create" : action.kind;
          const waitMs = retries.leftMs(key, attempt, now);
          if (waitMs > 0) return { againAfterMs: waitMs };
          const { plan, isDone } = await worker.act(content, action, signal);
          if (!isDone) return { ...plan, againAfterMs: retries.againMs(key, attempt, context.clock.now()) };
          if (action.kind !== "mark") retries.forget(key);
          return plan;
        },
        async run(signal, enqueue) {
          const leave = controllers.onChange(() => {
            for (const key of retries.hurry()) enqueue(key);
          });
          await new Promise<void>((resolve) => whenAborted(signal, resolve));
          leave();
        },
      };
    },
  });
}
