# nanoGPT's small run on characters, for a CPU: nereid-gpt2 train tutorials/09_train_gpt/shakespeare.py
out_dir = "out-shakespeare"
dataset = "shakespeare"
device = "cpu"

n_layer = 4
n_head = 4
n_embd = 128
block_size = 64
batch_size = 12
gradient_accumulation_steps = 1
dropout = 0.0

learning_rate = 1e-3
min_lr = 1e-4
beta2 = 0.99
warmup_iters = 100
max_iters = 2000
lr_decay_iters = 2000

eval_interval = 250
eval_iters = 20
log_interval = 50
