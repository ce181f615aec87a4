import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { exists } from '../images/debian.ts';
import type { Step } from '../step.ts';

export const importImages: Step = {
  name: 'import the images',
  async run(stage) {
    const { images, folder } = stage;
    const ours = join(folder, 'image.tar');
    await images.archive(stage.get('image'), ours);
    await stage.get('node').importImage(ours);
    const next = join(folder, 'next-image.tar');
    await images.archive(stage.get('nextImage'), next);
    await stage.get('node').importImage(next);
    // The tag of this one tells what is in it: an archive that is there is the right one.
    const neighbours = join(images.folder, `${stage.get('neighbours').replaceAll(/[/:]/g, '-')}.tar`);
    if (!(await exists(neighbours))) await images.archive(stage.get('neighbours'), neighbours);
    await stage.get('node').importImage(neighbours);
    return `ours: ${await megabytes(ours)} MB unpacked`;
  },
};

async function megabytes(file: string): Promise<number> {
  return Math.round((await stat(file)).size / 1e6);
}
