/** An operator as its framework's documentation teaches: a class with an event handler for each kind that it watches. `FILE` holds the definition. */
import framework from "../../../.tools/operator-frameworks/node_modules/@dot-i/k8s-operator/dist/operator.js";
import { finalizer, group, isSettled, obituaryOf, pageOf, plural, statusOf, version } from "./site.mjs";

const [, , definitionFile] = process.argv;
const conflict = ({ response }) => response?.statusCode === 409;

class SiteOperator extends framework.default {
  async init() {
    await this.registerCustomResourceDefinition(definitionFile);
    await this.watchResource(group, version, plural, (event) => this.#reconcile(event));
  }

  async #reconcile(event) {
    const { type, object, meta } = event;
    console.log(`${type} ${meta.name}`);
    if (type === "DELETED") return;
    if (await this.handleResourceFinalizer(event, finalizer, ({ object }) => this.#unpublish(object))) return;
    if (isSettled(object)) return;
    const page = pageOf(object);
    const { name, namespace } = page.metadata;
    try {
      await this.k8sApi.createNamespacedConfigMap(namespace, page);
    } catch (error) {
      if (!conflict(error)) throw error;
      await this.k8sApi.replaceNamespacedConfigMap(name, namespace, page);
    }
    await this.patchResourceStatus(meta, statusOf(object));
  }

  async #unpublish(site) {
    const obituary = obituaryOf(site);
    await this.k8sApi.createNamespacedConfigMap(obituary.metadata.namespace, obituary);
  }
}

const operator = new SiteOperator({ debug() {}, info: console.log, warn: console.error, error: console.error });
process.once("SIGTERM", () => {
  operator.stop();
  process.exit();
});
await operator.start();
