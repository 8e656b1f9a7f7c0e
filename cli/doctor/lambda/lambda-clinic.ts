import type { Clinic } from '../clinic.ts';
import { invokeProbes } from './invoke-probes.ts';
import { prepareMapping, type MappingBed } from './mapping-bed.ts';
import { mappingProbes } from './mapping-probes.ts';

export const lambdaClinic: Clinic<MappingBed> = {
  service: 'lambda',
  prepare: prepareMapping,
  probes: [...invokeProbes, ...mappingProbes],
};
