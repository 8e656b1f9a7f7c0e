import type { Clinic } from '../clinic.ts';
import { recordProbes } from './record-probes.ts';
import { reshardProbes } from './reshard-probes.ts';
import { createStream, type StreamBed } from './stream-bed.ts';

export const kinesisClinic: Clinic<StreamBed> = {
  service: 'kinesis',
  prepare: ({ clients, temporary }) => createStream(clients.kinesis, temporary, 'stream'),
  probes: [...recordProbes, ...reshardProbes],
};
