/**
 * When a streamed answer has begun and when it is over, for those who hold something for it.
 *
 * 1. `ended` is called once, also for an answer that nobody takes: its caller may have gone before there was one.
 */
import { nextTurn } from "#base";
import type { StreamResponse } from "./exchange.ts";

export interface StreamLife {
  /** What it writes at once has been written. */
  began?(): void;
  /** `failure`: what its stream threw. */
  ended(failure?: unknown): void;
}

export function withLife(response: StreamResponse, life: StreamLife): StreamResponse {
  let opened = false;
  const live = async (running: Promise<void>): Promise<void> => {
    opened = true;
    life.began?.();
    try {
      await running;
    } catch (error) {
      life.ended(error);
      throw error;
    }
    life.ended();
  };
  // Whoever takes an answer does so in the turn in which it is given.
  void nextTurn().then(() => {
    if (!opened) life.ended();
  });
  const { upgrade } = response;
  return {
    ...response,
    stream: (sink) => live(response.stream(sink)),
    ...(upgrade !== undefined && { upgrade: (connection) => live(upgrade.call(response, connection)) }),
  };
}
