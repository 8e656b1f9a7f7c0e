import { HoldfastError } from '../../core/errors.ts';
import { isClonePinOlder, type Pin } from '../../core/registry.ts';
import type { JobPorts } from '../job-ports.ts';
import { changeRegistry } from './change-registry.ts';

/**
 * C7: a manifest of the job and its files stay while somebody reads them. Where the pin is there already, it stays as it is;
 * that of a clone which has stood for half of the time that it counts is set anew.
 *
 * @throws HoldfastError `conflict` where the manifest is no more among the complete ones: its files may be going already
 */
export async function pinManifest(
  ports: Pick<JobPorts, 'control' | 'job'>,
  pin: Pin,
): Promise<void> {
  await changeRegistry(ports, (there) => {
    const known = there.pins.find(({ id }) => id === pin.id);
    if (known !== undefined && !isClonePinOlder(known, pin.sinceMs, 0.5)) return undefined;
    if (!there.complete.some(({ object }) => object === pin.object)) {
      throw new HoldfastError(
        'conflict',
        `manifest ${pin.object} of job ${ports.job} is not kept any more, and its files go; take one of: holdfast checkpoint list`,
      );
    }
    return { ...there, pins: [...there.pins.filter((one) => one !== known), pin] };
  });
}
