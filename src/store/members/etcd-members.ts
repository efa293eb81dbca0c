/**
 * The members of an etcd cluster through etcd's own API.
 *
 * 1. Changes of the membership are repeated only after the list shows that they did not happen.
 * 2. etcd takes one learner at a time, and none while too few members run: those who join wait for their turn, at most
 *    `PATIENCE_MS`.
 */

import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { type Clock, realClock, systemRandom } from "#base";
import { openChannel } from "../etcd/channel.ts";
import { Connection } from "../etcd/connection.ts";
import { Endpoint } from "../etcd/endpoint.ts";
import { type EtcdTlsFiles, openEtcdStore, tlsMaterial } from "../etcd/open.ts";
import type { Message } from "../etcd/rpc.ts";
import { isStoreError, StoreError } from "../model/errors.ts";
import { writeSnapshot } from "../snapshot/snapshot-file.ts";
import type { EtcdMembers, Joining, StoreMember } from "./members.ts";

const STATUS_MS = 2000;
const PATIENCE_MS = 60_000;
const RETRY_MS = 250;
const DEFRAGMENT_MS = 5 * 60_000;

export interface EtcdMembersOptions {
  readonly endpoints: readonly string[];
  readonly tls?: EtcdTlsFiles | undefined;
  readonly clock?: Clock | undefined;
}

export async function openEtcdMembers(options: EtcdMembersOptions): Promise<EtcdMembers> {
  return new MembersOfEtcd(options, await tlsMaterial(options.tls ?? {}));
}

class MembersOfEtcd implements EtcdMembers {
  readonly #options: EtcdMembersOptions;
  readonly #tls: Awaited<ReturnType<typeof tlsMaterial>>;
  readonly #clock: Clock;
  readonly #connection: Connection;

  constructor(options: EtcdMembersOptions, tls: Awaited<ReturnType<typeof tlsMaterial>>) {
    const { endpoints, clock = realClock() } = options;
    this.#options = options;
    this.#tls = tls;
    this.#clock = clock;
    this.#connection = new Connection({ endpoints, tls, clock, random: systemRandom() });
  }

  async list(): Promise<readonly StoreMember[]> {
    const members = await this.#members();
    return Promise.all(members.map((member) => this.#shown(member)));
  }

  async addLearner(name: string, peerUrl: string): Promise<Joining> {
    const { rpc } = this.#connection;
    const deadline = this.#clock.monotonic() + PATIENCE_MS;
    for (;;) {
      const members = await this.#members();
      const there = members.find(({ peerUrls }) => peerUrls.includes(peerUrl));
      if (there !== undefined) {
        if (there.name !== "" && there.name !== name)
          throw new StoreError("Unavailable", `${peerUrl} is the member ${there.name} already.`);
        return joining(there, name, members);
      }
      try {
        const request = { peerUrls: [peerUrl], isLearner: true };
        const added = await this.#connection.write(rpc.memberAdd, request, this.#connection.deadline());
        if (added.member === null) throw new TypeError("An answer of etcd has no member.");
        return joining(added.member, name, added.members);
      } catch (error) {
        await this.#retryOf(error, /too many learner|not enough started|unhealthy cluster|not available now/, deadline);
      }
    }
  }

  async promote(id: string): Promise<void> {
    const { rpc } = this.#connection;
    const deadline = this.#clock.monotonic() + PATIENCE_MS;
    for (;;) {
      const member = (await this.#members()).find((each) => idOf(each.id) === id);
      if (member === undefined) throw new StoreError("Unavailable", `etcd has no member ${id}.`);
      if (!member.isLearner) return;
      try {
        await this.#connection.write(rpc.memberPromote, { id: member.id }, this.#connection.deadline());
        return;
      } catch (error) {
        await this.#retryOf(error, /in sync with leader|unhealthy cluster|not available now/, deadline);
      }
    }
  }

  async remove(id: string): Promise<void> {
    const { rpc } = this.#connection;
    const deadline = this.#clock.monotonic() + PATIENCE_MS;
    for (;;) {
      const member = (await this.#members()).find((each) => idOf(each.id) === id);
      if (member === undefined) return;
      try {
        await this.#connection.write(rpc.memberRemove, { id: member.id }, this.#connection.deadline());
        return;
      } catch (error) {
        if (/member not found/.test(String(error))) return;
        await this.#retryOf(error, /unhealthy cluster|not available now/, deadline);
      }
    }
  }

  async defragment(): Promise<void> {
    const members = await this.list();
    const unwell = members.find(({ healthy }) => !healthy);
    // One more that does not answer could be one too many.
    if (unwell !== undefined)
      throw new StoreError("Unavailable", `Member ${unwell.name} is not healthy: etcd is not defragmented now.`);
    for (const { clientUrls, name } of members.toSorted((a, b) => Number(a.isLeader) - Number(b.isLeader))) {
      using endpoint = this.#endpoint(clientUrls[0] ?? "");
      const attempt = { reach: "local", limitMs: DEFRAGMENT_MS } as const;
      const outcome = await endpoint.value.call(this.#connection.rpc.defragment, {}, attempt);
      if (outcome.ok) continue;
      const { reason, cause } = outcome.failure;
      throw new StoreError("Unavailable", `Member ${name} could not be defragmented: ${reason}.`, { cause });
    }
  }

  async snapshotTo(file: string): Promise<void> {
    const { endpoints, tls = {} } = this.#options;
    const store = await openEtcdStore({ endpoints, tls, clock: this.#clock, compactionIntervalMs: 0 });
    const temporary = `${file}.${process.pid}`;
    try {
      await pipeline(writeSnapshot(store, this.#clock), createWriteStream(temporary, { mode: 0o600, flush: true }));
      await rename(temporary, file);
    } finally {
      await rm(temporary, { force: true });
      await store.close();
    }
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #members(): Promise<readonly Message<"Member">[]> {
    const { rpc } = this.#connection;
    return (await this.#connection.read(rpc.memberList, {}, this.#connection.deadline(), "local")).members;
  }

  async #shown(member: Message<"Member">): Promise<StoreMember> {
    const { name, peerUrls, clientUrls, isLearner } = member;
    const facts = { id: idOf(member.id), name, peerUrls, clientUrls, isLearner };
    const [url] = clientUrls;
    if (url === undefined) return { ...facts, isLeader: false, healthy: false, problem: "it has not started yet" };
    using endpoint = this.#endpoint(url);
    const attempt = { reach: "local", limitMs: STATUS_MS } as const;
    const outcome = await endpoint.value.call(this.#connection.rpc.status, {}, attempt);
    if (!outcome.ok) return { ...facts, isLeader: false, healthy: false, problem: outcome.failure.reason };
    const { version, dbSize, leader, raftIndex, errors } = outcome.answer;
    const problem = leader === "0" ? "its cluster has no leader" : errors[0];
    return {
      ...facts,
      isLeader: leader === member.id,
      healthy: problem === undefined,
      problem,
      version,
      dbSizeBytes: Number(dbSize),
      raftIndex: Number(raftIndex),
    };
  }

  #endpoint(url: string): { readonly value: Endpoint } & Disposable {
    const { rpc } = this.#connection;
    const value = new Endpoint({ url, openChannel: () => openChannel(url, this.#tls), rpc, clock: this.#clock });
    return { value, [Symbol.dispose]: () => value.close() };
  }

  async #retryOf(error: unknown, passing: RegExp, deadline: number): Promise<void> {
    const isPassing = isStoreError(error, "Unavailable") && passing.test(error.message);
    if (!isPassing || this.#clock.monotonic() >= deadline) throw error;
    await this.#clock.sleep(RETRY_MS, this.#connection.signal);
  }
}

function idOf(decimal: string): string {
  return BigInt(decimal).toString(16);
}

/** Members that have not started yet have no name; those of others are skipped by etcd only if they are not named. */
function joining(member: Message<"Member">, name: string, members: readonly Message<"Member">[]): Joining {
  const all = members.flatMap(({ id, name: known, peerUrls }) =>
    peerUrls.map((url) => `${id === member.id ? name : known}=${url}`),
  );
  return { id: idOf(member.id), name, initialCluster: all.filter((each) => !each.startsWith("=")).join(",") };
}
