import { localName, type ImageStore } from './store.ts';

/** What holds the namespaces of a pod: it does nothing, for long. */
export async function pauseImage(store: ImageStore): Promise<string> {
  const image = localName('pause', '1');
  if (!(await store.has(image))) {
    await store.assemble(image, {
      parts: [{ from: '/bin/busybox', to: '/bin/busybox', mode: '0755' }],
      entrypoint: ['/bin/busybox', 'sleep', '2147483647'],
    });
  }
  return image;
}
