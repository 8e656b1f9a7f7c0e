import type { Clinic } from '../clinic.ts';
import { prepareBucket, type BucketBed } from './bucket-bed.ts';
import { objectProbes } from './object-probes.ts';

export const s3Clinic: Clinic<BucketBed> = {
  service: 's3',
  prepare: prepareBucket,
  probes: objectProbes,
};
