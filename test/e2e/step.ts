import type { ImageStore } from './images/store.ts';
import type { KubernetesNode } from './node/node.ts';

/** One part of the story that the end-to-end test tells. Later ones build upon earlier ones. */
export interface Step {
  /** What the table calls it. */
  readonly name: string;
  /** Past it, the step has failed. 10 minutes unless it says otherwise. */
  readonly deadlineMs?: number;
  /** Fails by throwing. What it returns is a remark in the table: a size, a figure. */
  run(stage: Stage): Promise<string | void>;
}

/** What a step leaves for those after it. */
export interface Parts {
  /** Name of our image. */
  image: string;
  /** Name of our image as a later release. */
  nextImage: string;
  /** Name of the image of what runs beside ours. */
  neighbours: string;
  /** Name of the image that holds the namespaces of pods. */
  pauseImage: string;
  node: KubernetesNode;
  /** `https://…`, as pods reach it. */
  vaultAddress: string;
}

/** What steps share. */
export class Stage {
  readonly images: ImageStore;
  /** Of this run, and removed with it. Its last part is unique on this machine. */
  readonly folder: string;
  readonly #parts: Partial<Parts> = {};

  constructor(images: ImageStore, folder: string) {
    this.images = images;
    this.folder = folder;
  }

  set<Name extends keyof Parts>(name: Name, part: Parts[Name]): void {
    this.#parts[name] = part;
  }

  find<Name extends keyof Parts>(name: Name): Parts[Name] | undefined {
    return this.#parts[name];
  }

  /** Of a step before. */
  get<Name extends keyof Parts>(name: Name): Parts[Name] {
    const part = this.find(name);
    if (part === undefined) throw new Error(`no step before this one has made: ${name}`);
    return part;
  }
}
