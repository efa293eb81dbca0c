/** Whole sequences, word by word. A line that is not indented is done; what is indented behind it came of it. */
import { describe, expect, it } from "vitest";
import { play, trimmed } from "./testing/script.ts";

const scripts: Readonly<Record<string, string>> = {
  "the least allocated node is taken, and what does not fit waits until something goes": `
    node a cpu=2
    node b cpu=4
    pod p1 cpu=1
        p1: on b
    pod p2 cpu=2
        p2: on b
    pod p3 cpu=3
        p3: waits: 0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.
    pod p4 cpu=1
        p4: on a
    delete pod p2
        p3: on b
        p2: gone
  `,
  "zones, taints and tolerations": `
    node a1 zone=a taint=gpu
    node b1 zone=b
    pod p1 zone=a
        p1: waits: 0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.
    pod p2 zone=a tolerates=gpu
        p2: on a1
    node a2 zone=a
        p1: on a2
  `,
  "a spread that must hold, and one too many": `
    node a zone=a
    node b zone=b cpu=1
    pod w1 app=w spread
        w1: on a
    pod w2 app=w spread
        w2: on b
    pod w3 app=w spread
        w3: on a
    pod w4 app=w spread
        w4: waits: 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod topology spread constraints. no new claims to deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.
    delete pod w3
        w4: on a
        w3: gone
  `,
  "one for each node, and a port that is taken": `
    node a
    pod l1 app=l apart port=80
        l1: on a
    pod l2 app=l apart
        l2: waits: 0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
    pod m port=80
        m: waits: 0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
    node b
        l2: on b
        m: on b
  `,
  "the important one takes the place of the others, and keeps it": `
    node a cpu=2
    pod low1 cpu=1
        low1: on a
    pod low2 cpu=1
        low2: on a
    pod vip cpu=2 priority=100
        low1: on a, leaving
        low2: on a, leaving
        vip: waits for a: 0/1 nodes are available: 1 Insufficient cpu.
    pod upstart cpu=1 priority=50
        upstart: waits: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Insufficient cpu.
    ready-to-go
        upstart: waits: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
        vip: on a
        low1: gone
        low2: gone
  `,
  "a node that goes takes its pods with it, and its room": `
    node a cpu=2
    pod p1 cpu=2
        p1: on a
    delete node a
    pod p2 cpu=1
        p2: waits: no nodes available to schedule pods
    node a cpu=2
        p2: waits: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
    delete pod p1
        p2: on a
        p1: gone
  `,
};

describe("golden scripts", () => {
  it.each(Object.entries(scripts))("%s", async (_name, script) => {
    expect(await play(script)).toBe(trimmed(script));
  });
});
