import type { Clinic } from '../clinic.ts';
import { readProbes } from './read-probes.ts';
import { statementProbes } from './statement-probes.ts';
import { prepareTable, type TableBed } from './table-bed.ts';
import { writeProbes } from './write-probes.ts';

export const dynamodbClinic: Clinic<TableBed> = {
  service: 'dynamodb',
  prepare: prepareTable,
  probes: [...writeProbes, ...statementProbes, ...readProbes],
};
