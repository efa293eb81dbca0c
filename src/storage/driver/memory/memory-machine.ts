/** A machine that keeps what the driver does in memory: no files, no devices, no mounts, no timers. */
import { GrpcError } from "#grpc";
import type { Device, ImageName, Images, Machine, Mount, MountOptions, Usage } from "../machine/machine.ts";

interface MemoryImage {
  readonly bytes: number;
  readonly fsType?: string | undefined;
}

const keyOf = ({ kind, id }: ImageName) => `${kind}/${id}`;

export class MemoryMachine implements Machine {
  readonly fileSystems = ["ext4", "xfs"].map((type) => ({ type, leastBytes: 0, growsMounted: true }));
  readonly blockProblem = undefined;
  readonly maxDevices = 0;
  readonly images: Images;
  readonly #images = new Map<string, { readonly name: ImageName; readonly image: MemoryImage }>();
  readonly #devices = new Map<string, { readonly image: ImageName; readonly bytes: number }>();
  #mounts: Mount[] = [];
  readonly #frozen = new Set<string>();
  #nextDevice = 0;

  /** `diskBytes`: how much the node's volumes may take. */
  constructor(diskBytes: number) {
    this.images = this.#imagesOn(diskBytes);
  }

  get frozen(): ReadonlySet<string> {
    return this.#frozen;
  }

  async devices(): Promise<Device[]> {
    return [...this.#devices].map(([number, { image }]) => ({ number, image }));
  }

  async attach(image: ImageName): Promise<string> {
    const known = this.#devices.entries().find(([, device]) => keyOf(device.image) === keyOf(image));
    if (known !== undefined) return known[0];
    const number = `7:${this.#nextDevice++}`;
    this.#devices.set(number, { image, bytes: this.#imageOf(image).bytes });
    return number;
  }

  async detach(device: string): Promise<void> {
    const busy = this.#mounts.find((mount) => mount.device === device);
    if (busy !== undefined) throw new Error(`${device} is mounted at ${busy.path}`);
    this.#devices.delete(device);
  }

  async refresh(device: string): Promise<void> {
    const { image } = this.#deviceOf(device);
    this.#devices.set(device, { image, bytes: this.#imageOf(image).bytes });
  }

  async mounts(): Promise<readonly Mount[]> {
    return this.#mounts;
  }

  async mount(device: string, path: string, { readOnly, fsType }: MountOptions): Promise<void> {
    const found = this.#imageOf(this.#deviceOf(device).image).fsType;
    if (found !== fsType) throw new Error(`${device} holds ${found}, not ${fsType}`);
    this.#add({ path, device, readOnly, isWhole: true, isBlock: false });
  }

  async bind(from: string, path: string, readOnly: boolean): Promise<void> {
    const source = this.#mounts.findLast((mount) => mount.path === from);
    if (source === undefined) throw new Error(`nothing is mounted at ${from}`);
    this.#add({ ...source, path, readOnly });
  }

  async bindDevice(device: string, path: string): Promise<void> {
    this.#deviceOf(device);
    this.#add({ path, device, readOnly: false, isWhole: true, isBlock: true });
  }

  async unmount(path: string): Promise<void> {
    this.#mounts = this.#mounts.filter((mount) => mount.path !== path);
  }

  async growFileSystem(): Promise<void> {}

  async freeze(path: string): Promise<void> {
    if (this.#frozen.has(path)) throw new Error(`${path} is frozen already`);
    this.#frozen.add(path);
  }

  async thaw(path: string): Promise<void> {
    this.#frozen.delete(path);
  }

  async flush(): Promise<void> {}

  async usage(path: string): Promise<Usage> {
    const mount = this.#mounts.findLast((each) => each.path === path);
    const bytes = mount === undefined ? 0 : this.#deviceOf(mount.device).bytes;
    const inodes = Math.floor(bytes / 16_384);
    return {
      totalBytes: bytes,
      usedBytes: 0,
      availableBytes: bytes,
      totalInodes: inodes,
      usedInodes: 0,
      availableInodes: inodes,
    };
  }

  #add(mount: Mount): void {
    this.#mounts = [...this.#mounts, mount];
  }

  #imageOf(image: ImageName): MemoryImage {
    const found = this.#images.get(keyOf(image));
    if (found === undefined) throw new GrpcError("INTERNAL", `there is no image ${keyOf(image)}`);
    return found.image;
  }

  #deviceOf(device: string) {
    const found = this.#devices.get(device);
    if (found === undefined) throw new Error(`${device} is not attached`);
    return found;
  }

  #imagesOn(diskBytes: number): Images {
    const put = (name: ImageName, image: MemoryImage) => void this.#images.set(keyOf(name), { name, image });
    return {
      sharesBlocks: false,
      list: async () => [...this.#images.values()].map(({ name }) => name),
      removeDrafts: async () => {},
      allocate: async (image, bytes) => put(image, { bytes }),
      copy: async (from, to, bytes) => put(to, { ...this.#imageOf(from), bytes }),
      format: async (image, bytes, fsType) => put(image, { bytes, fsType }),
      fsTypeOf: async (image) => this.#imageOf(image).fsType,
      extend: async (image, bytes) => {
        const known = this.#imageOf(image);
        put(image, { ...known, bytes: Math.max(known.bytes, bytes) });
      },
      grow: async (image, fsType, bytes) => put(image, { bytes, fsType }),
      remove: async (image) => void this.#images.delete(keyOf(image)),
      sizeOf: async (image) => {
        const found = this.#images.get(keyOf(image));
        return found && { bytes: found.image.bytes, allocated: 0 };
      },
      freeBytes: async () => diskBytes,
    };
  }
}
