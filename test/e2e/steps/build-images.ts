import { neighboursImage } from '../images/neighbours.ts';
import { nextVersionImage } from '../images/next-version.ts';
import { pauseImage } from '../images/pause.ts';
import { productImage } from '../images/product.ts';
import type { Step } from '../step.ts';

/** Ours by its Dockerfile, and what else the cluster runs: no registry can be reached from there. */
export const buildImages: Step = {
  name: 'build the images',
  deadlineMs: 25 * 60_000,
  async run(stage) {
    await stage.images.removeOld();
    const image = await productImage(stage.images);
    stage.set('image', image);
    stage.set('nextImage', await nextVersionImage(stage.images, stage.folder, image));
    stage.set('pauseImage', await pauseImage(stage.images));
    stage.set('neighbours', await neighboursImage(stage.images));
    const shell = await stage.images.run(image, ['/bin/sh', '-c', 'true']).then(
      () => true,
      () => false,
    );
    if (shell) throw new Error('our image has a shell');
    return stage.images.run(image, ['/usr/local/bin/tokenkeep', '--version']);
  },
};
