const CONTAINER = /^\/([a-z0-9_-]+\/)*$/;

/** Longest path of a container, in characters. */
export const CONTAINER_LENGTH = 400;

/** What a caller is told about a path that is no container. */
export const CONTAINER_FORM = `must be a path such as /pci/high/ of at most ${CONTAINER_LENGTH} characters`;

/** The one spelling of a container's path: containers compare in lower case. */
export function normalizeContainer(path: string): string {
  return path.toLowerCase();
}

/** Whether a normalized path is a container: segments of letters, digits, `_` and `-`, each closed by a slash. */
export function isContainer(path: string): boolean {
  return path.length <= CONTAINER_LENGTH && CONTAINER.test(path);
}
