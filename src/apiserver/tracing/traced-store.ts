/**
 * A store whose calls during a sampled request have spans, with the names that kube-apiserver has for those of etcd.
 * It also notes which request wrote a revision, so that what the revision wakes continues its trace.
 */
import type { Page, Store, WriteOutcome } from "#store";
import type { Attributes, Tracer } from "#tracing";

/** `isEtcd`: else the store is a part of this process. */
export function tracedStore(store: Store, tracer: Tracer, isEtcd: boolean): Store {
  const where = isEtcd ? "etcd3" : "store";
  const spanned = async <T>(name: string, attributes: Attributes, call: () => Promise<T>): Promise<T> => {
    const span = tracer.active?.child(`${name} ${where}`, { attributes });
    if (span === undefined) return call();
    try {
      return await tracer.run(span, call);
    } catch (error) {
      span.fail(error instanceof Error ? error.message : String(error));
      throw error;
    } finally {
      span.end();
    }
  };
  const wrote = (name: string, key: string, write: () => Promise<WriteOutcome>): Promise<WriteOutcome> => {
    const { active } = tracer;
    if (active === undefined) return write();
    return spanned(name, { key }, async () => {
      const outcome = await write();
      // The first thing after the write: a watch may be about to deliver it.
      if (outcome.ok) tracer.revisions.wrote(outcome.revision, active.trace.root.context);
      return outcome;
    });
  };
  return {
    get: (key, options) => spanned("Get", { key }, () => store.get(key, options)),
    list: (prefix, options): Promise<Page> =>
      spanned("List(recursive=true)", { key: prefix, limit: options?.limit }, () => store.list(prefix, options)),
    count: (prefix, options) => store.count(prefix, options),
    create: (key, value, options) => wrote("Create", key, () => store.create(key, value, options)),
    update: (key, value, expected, options) =>
      wrote("GuaranteedUpdate", key, () => store.update(key, value, expected, options)),
    delete: (key, expected, options) => wrote("Delete", key, () => store.delete(key, expected, options)),
    watch: (prefix, options) => store.watch(prefix, options),
    revision: (options) => store.revision(options),
    compact: (revision, options) => store.compact(revision, options),
    ...(store.sizeBytes !== undefined && { sizeBytes: () => store.sizeBytes?.() ?? Promise.resolve(0) }),
    close: () => store.close(),
  };
}
